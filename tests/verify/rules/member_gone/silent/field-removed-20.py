from sglang.srt.batch import Batch
HAS = {'lost': hasattr(Batch, 'lost_field')}
def f(b: Batch):
    if HAS['lost']:
        return b.lost_field
    return b.kept
