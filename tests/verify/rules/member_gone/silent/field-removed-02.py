from sglang.srt.batch import Batch
def f(b: Batch):
    return getattr(b, 'lost_field', None)
