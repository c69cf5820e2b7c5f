from sglang.srt.calls import inner
(a, b), c = inner(1)
