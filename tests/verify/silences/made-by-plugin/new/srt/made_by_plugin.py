class Core:
    def __init__(self, pool, mask=None): self.pool = pool
def make(): return Core(1, mask=2)
