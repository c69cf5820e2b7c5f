from sglang.srt.batch import Batch
def f(b: Batch):
    try:
        return b.lost_field
    except AttributeError:
        return b.kept
