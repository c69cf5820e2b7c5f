from sglang.srt.calls import fewer
import inspect
kw = {}
if 'b' in inspect.signature(fewer).parameters:
    kw['extra'] = 1
fewer(1, **kw)
