from sglang.srt.batch import Batch
def f(b: Batch):
    if hasattr(b, 'after_rename'):
        return b.after_rename(1, 2)
    return b.before_rename(1, 2)
