from sglang.srt.batch import Batch
def f(b: Batch):
    return b.pack_nsa_rows(1, 2)
