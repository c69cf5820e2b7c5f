from sglang.srt.batch import Phase
x = [Phase.ONE, Phase.TWO.name, Phase.TWO.value, Phase['ONE']]
