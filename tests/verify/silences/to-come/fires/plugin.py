import sglang
from packaging.version import Version
from sglang.srt.to_come import kept

if Version("0.5.2") < Version(sglang.__version__) < Version("0.5.2"):
    print(kept)
else:
    print(kept())
