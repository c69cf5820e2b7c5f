from sglang.srt.filled_in import Batch


def use(batch: Batch):
    return batch.size > 1
