from sglang.srt.asked_first import Batch


def use(batch: Batch):
    assert hasattr(batch, "lost")
    return batch.kept
