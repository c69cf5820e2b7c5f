from functools import partial
from sglang.srt.calls import fewer
f = partial(fewer, extra=3)
