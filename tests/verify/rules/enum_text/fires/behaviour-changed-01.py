from sglang.srt.pools import PoolName


def is_kv(pool: PoolName):
    return str(pool) == "PoolName.KV"
