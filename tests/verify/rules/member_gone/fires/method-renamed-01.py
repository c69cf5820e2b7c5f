from sglang.srt.batch import Batch
def f(b: Batch):
    return b.before_rename(1, 2)
