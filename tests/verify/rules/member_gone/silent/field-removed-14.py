from sglang.srt.batch import Batch
import dataclasses
NAMES = {f.name for f in dataclasses.fields(Batch)}
def f(b: Batch):
    if 'lost_field' in NAMES:
        return b.lost_field
    return b.kept
