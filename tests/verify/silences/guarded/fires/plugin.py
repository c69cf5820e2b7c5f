from sglang.srt.guarded import Batch


def use(batch: Batch):
    try:
        return batch.lost
    except KeyError:
        return batch.kept
