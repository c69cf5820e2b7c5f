from sglang.srt.compatibility_write import Batch


def use(batch: Batch):
    if hasattr(batch, "fresh"):
        batch.lost = 2
