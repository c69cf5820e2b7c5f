from sglang.srt.batch import Batch
def f(kept):
    b = Batch(kept, 1)
    return b.lost_method()
