# the release takes three itself: its annotation is wrong
from sglang.srt.stats import counted
a, b, c = counted(1)
