from sglang.srt.batch import Batch
def f(b: Batch):
    return [getattr(b, each) for each in ('kept', 'lost_field')]
