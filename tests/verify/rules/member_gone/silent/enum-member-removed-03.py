from sglang.srt.batch import Phase
x = Phase.LEFT if 'LEFT' in Phase.__members__ else Phase.TWO
