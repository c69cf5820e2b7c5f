import enum


class PoolName(str, enum.Enum):
    KV = "kv"

    def __str__(self):
        return self.value
