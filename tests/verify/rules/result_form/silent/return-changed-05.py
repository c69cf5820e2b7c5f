from sglang.srt.calls import pair
a = pair(1)
