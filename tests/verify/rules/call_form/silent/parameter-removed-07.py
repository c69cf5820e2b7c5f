from sglang.srt.calls import fewer
from inspect import signature
TAKEN = signature(fewer).parameters.keys()
fewer(1, extra=2) if 'extra' in TAKEN else fewer(1)
