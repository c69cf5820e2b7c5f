import sglang
from packaging.version import Version
from sglang.srt.other_branch import Batch


def use(batch: Batch):
    if Version(sglang.__version__) < Version("0.5.2"):
        return batch.lost
    return batch.kept
