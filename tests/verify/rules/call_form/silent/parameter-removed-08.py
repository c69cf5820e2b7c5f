import sglang
from packaging.version import parse
from sglang.srt.calls import fewer
if parse(sglang.__version__) < parse('0.5.2'):
    fewer(1, extra=2)
else:
    fewer(1)
