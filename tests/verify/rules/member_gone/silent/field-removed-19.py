from sglang.srt.batch import Batch
def has(thing):
    if hasattr(thing, 'lost_field'):
        return True
    return False
def f(b: Batch):
    if has(b):
        return b.lost_field
    return b.kept
