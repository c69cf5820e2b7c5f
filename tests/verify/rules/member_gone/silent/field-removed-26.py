from sglang.srt.batch import Batch
ABSENT = object()
def f(b: Batch):
    rows = getattr(b, 'lost_field', ABSENT)
    if rows is not ABSENT:
        return b.lost_field
    return b.kept
