from sglang.srt.batch import Batch
def f(b: Batch):
    return b.nsa_total_tokens
