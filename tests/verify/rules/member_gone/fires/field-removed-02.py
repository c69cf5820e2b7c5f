from sglang.srt.batch import Batch
def f(b: 'Batch | None'):
    return b.lost_field
