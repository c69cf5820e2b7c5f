from sglang.srt.taken_below import Pool


def use(pool: Pool):
    return pool.put(1, deep=True)
