import sglang
from packaging.version import Version
from sglang.srt.to_come import kept

if Version(sglang.__version__) >= Version("0.9"):
    print(kept)
else:
    print(kept())
