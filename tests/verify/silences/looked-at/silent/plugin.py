import json

from sglang.srt.looked_at import Batch


def use(batch: Batch):
    json.dumps(batch.rows)
    return batch.rows[0]
