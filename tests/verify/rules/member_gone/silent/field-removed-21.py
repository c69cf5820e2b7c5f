from sglang.srt.batch import Batch
class Own(Batch):
    lost_field = 1
def f(b: Batch):
    if type(b) is Own:
        return b.lost_field
    return b.kept
