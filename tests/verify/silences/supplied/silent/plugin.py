from sglang.srt.supplied import Batch


class Keeper:
    def __init__(self):
        self.lost = 0


def prepare(batch: Batch):
    if not hasattr(batch, "lost"):
        batch.lost = 1


def use(batch: Batch):
    return batch.lost
