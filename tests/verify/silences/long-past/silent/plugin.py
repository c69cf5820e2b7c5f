import sglang
from packaging.version import Version
from sglang.srt.long_past import kept

if Version(sglang.__version__) < Version("0.4"):
    print(kept)
else:
    print(kept())
