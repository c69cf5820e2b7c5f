from sglang.srt.asked_first import Batch


def use(batch: Batch):
    return getattr(batch, "lost", batch.kept)
