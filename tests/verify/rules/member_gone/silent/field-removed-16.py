from sglang.srt.batch import Batch

def f(b: Batch):
    if all(hasattr(b, name) for name in ('kept', 'lost_field')):
        return b.lost_field
    return b.kept
