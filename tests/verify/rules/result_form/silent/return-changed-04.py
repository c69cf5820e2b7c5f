from sglang.srt.calls import pair
a, *rest = pair(1)
