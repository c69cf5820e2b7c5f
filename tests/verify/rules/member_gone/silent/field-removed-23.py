from sglang.srt.batch import Batch
def f(b: Batch):
    for name in ('lost_field', 'kept'):
        if hasattr(b, name):
            return getattr(b, name)
