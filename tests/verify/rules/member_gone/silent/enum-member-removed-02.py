from sglang.srt.batch import Phase
x = getattr(Phase, 'LEFT', Phase.TWO)
