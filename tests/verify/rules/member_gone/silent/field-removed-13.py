from sglang.srt.batch import Batch

def f(b: Batch):
    if 'lost_field' in Batch.__dataclass_fields__:
        return b.lost_field
    return b.kept
