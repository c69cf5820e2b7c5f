from sglang.srt.calls import pair
a, b = pair(1)
