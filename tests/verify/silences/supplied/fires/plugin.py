from sglang.srt.supplied import Batch


class Keeper:
    def __init__(self):
        self.lost = 0


def prepare(keeper: Keeper):
    keeper.lost = 1


def use(batch: Batch):
    return batch.lost
