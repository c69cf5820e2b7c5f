from sglang.srt.batch import Batch
def f(b: Batch):
    if hasattr(b, 'lost_field'):
        return b.lost_field
    return b.kept
