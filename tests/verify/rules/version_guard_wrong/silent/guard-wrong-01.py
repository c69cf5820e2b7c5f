import sglang
from packaging import version
if version.parse(sglang.__version__) >= version.parse('0.5.2'):
    from sglang.srt.names import stays
else:
    from sglang.srt.names import dropped
