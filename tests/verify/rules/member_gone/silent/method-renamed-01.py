from sglang.srt.batch import Batch
def f(b: Batch):
    if hasattr(b, 'pack_dsa_rows'):
        return b.pack_dsa_rows(1, 2)
    return b.pack_nsa_rows(1, 2)
