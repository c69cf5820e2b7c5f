from sglang.srt.calls import fewer
import inspect
kw = dict(extra=1)
if 'extra' not in inspect.signature(fewer).parameters:
    kw.pop('extra')
fewer(1, **kw)
