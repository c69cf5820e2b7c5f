from sglang.srt.batch import Batch

def f(b: Batch):
    if 'lost_field' in dir(b):
        return b.lost_field
    return b.kept
