from sglang.srt.batch import Batch
def f(b: Batch):
    return b.old_total_tokens
