from sglang.srt.batch import Batch
def f(b: Batch):
    return b.lost_field
