from sglang.srt.compatibility_write import Batch


class Other:
    fresh = 1


def use(batch: Batch, other: Other):
    if hasattr(other, "fresh"):
        batch.lost = 2
