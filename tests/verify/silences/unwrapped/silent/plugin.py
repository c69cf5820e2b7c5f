from sglang.srt.unwrapped import Batch


def use(batch: Batch):
    one, two = batch.rows
    return one
