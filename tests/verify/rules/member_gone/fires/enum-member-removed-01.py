from sglang.srt.batch import Phase
x = Phase.LEFT
