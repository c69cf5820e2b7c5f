from sglang.srt.filled import THINGS
x = THINGS['alpha']
