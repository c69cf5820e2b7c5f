from sglang.srt.pool import Pool
def mine(self, rows):
    return rows


def swap(cls, name, f):
    old = getattr(cls, name)
    setattr(cls, name, f)
    return old


old = swap(Pool, 'copy', mine)
