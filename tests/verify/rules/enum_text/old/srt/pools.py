import enum


class PoolName(str, enum.Enum):
    KV = "kv"
