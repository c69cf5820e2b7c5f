from sglang.srt.batch import Batch

def f(b: Batch):
    if any(hasattr(b, name) for name in ('never', 'lost_field')):
        return b.lost_field
    return b.kept
