from sglang.srt.still_read import Batch


def use(batch: Batch):
    batch.lost = 2
