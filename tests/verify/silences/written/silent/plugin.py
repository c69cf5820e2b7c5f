from sglang.srt.written import Batch


def use(batch: Batch):
    batch.lost = 2
