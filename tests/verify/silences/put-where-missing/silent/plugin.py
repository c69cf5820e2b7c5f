from sglang.srt.put_where_missing import Batch


def use(batch: Batch, ready):
    if ready and not hasattr(batch, "lost"):
        batch.lost = 2
