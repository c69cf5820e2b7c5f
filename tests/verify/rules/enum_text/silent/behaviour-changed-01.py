from sglang.srt.pools import PoolName


def is_kv(pool: PoolName):
    return pool.value == "kv" or str(pool) == "kv"
