from sglang.srt.calls import fewer
import inspect
if 'extra' in inspect.signature(fewer).parameters:
    fewer(1, extra=2)
else:
    fewer(1)
