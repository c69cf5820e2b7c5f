from sglang.srt.calls import fewer
kw = dict(extra=1)
fewer(1, **kw)
