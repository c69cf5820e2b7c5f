class Core:
    def __init__(self, pool): self.pool = pool
def make(): return Core(1)
