from sglang.srt.batch import Batch
def has(thing, name):
    return hasattr(thing, name)
def f(b: Batch):
    if has(b, 'lost_field'):
        return b.lost_field
    return b.kept
