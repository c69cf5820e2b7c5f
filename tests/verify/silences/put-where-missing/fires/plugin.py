from sglang.srt.put_where_missing import Batch


def use(batch: Batch, other, ready):
    if ready and not hasattr(other, "lost"):
        batch.lost = 2
