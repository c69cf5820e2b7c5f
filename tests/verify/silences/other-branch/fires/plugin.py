from sglang.srt.other_branch import Batch


def use(batch: Batch):
    if hasattr(batch, "kept"):
        return batch.lost
    return batch.kept
