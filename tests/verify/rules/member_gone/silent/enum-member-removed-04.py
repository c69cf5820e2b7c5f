from sglang.srt.batch import Phase
x = Phase.LEFT if 'LEFT' in [m.name for m in Phase] else Phase.TWO
