from sglang.srt.calls import pair
r = pair(1)
a, b = r
