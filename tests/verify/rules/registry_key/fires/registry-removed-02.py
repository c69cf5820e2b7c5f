from sglang.srt.filled import THINGS
x = THINGS['beta']
