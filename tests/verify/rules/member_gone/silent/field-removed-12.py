from sglang.srt.batch import Batch

def f(b: Batch):
    if 'lost_field' in b.__dict__:
        return b.lost_field
    return b.kept
