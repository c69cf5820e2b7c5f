from sglang.srt.batch import Batch
def f(b):
    assert isinstance(b, Batch)
    return b.lost_field
