from sglang.srt.never_fitted import Batch


def use(batch: Batch):
    return batch.put(1, 2, 3)
