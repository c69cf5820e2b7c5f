from sglang.srt.pool import Pool
def mine(self, rows):
    return rows


Pool.copy = mine
