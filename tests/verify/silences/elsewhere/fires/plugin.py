from sglang.srt.elsewhere import Batch


def use(batch: Batch):
    return batch.columns
