from sglang.srt.batch import Batch
def f(b: Batch):
    if not hasattr(b, 'lost_field'):
        b.lost_field = 0
    return b.lost_field
