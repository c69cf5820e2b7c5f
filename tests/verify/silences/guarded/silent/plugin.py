from sglang.srt.guarded import Batch


def use(batch: Batch):
    try:
        return batch.lost
    except AttributeError:
        return batch.kept
