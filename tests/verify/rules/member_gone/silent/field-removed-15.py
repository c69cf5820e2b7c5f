from sglang.srt.batch import Batch
import dataclasses
HAS = 'lost_field' in [f.name for f in dataclasses.fields(Batch)]
def f(b: Batch):
    if HAS:
        return b.lost_field
    return b.kept
