from sglang.srt.batch import Batch

def f(b: Batch):
    if 'lost_field' in vars(b):
        return b.lost_field
    return b.kept
