from sglang.srt.never_seen import Batch


def use(batch: Batch):
    batch.put(batch.kept, deep=2)
