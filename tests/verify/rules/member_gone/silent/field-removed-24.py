from sglang.srt.batch import Batch
def f(b: Batch):
    for name in ('lost_field', 'kept'):
        try:
            return getattr(b, name)
        except AttributeError:
            continue
