from sglang.srt.calls import fewer
kw = {}
kw['extra'] = 1
fewer(1, **kw)
