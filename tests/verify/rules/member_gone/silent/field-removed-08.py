from sglang.srt.batch import Batch
class Own(Batch):
    lost_field = 1


def f(o: Own):
    return o.lost_field
