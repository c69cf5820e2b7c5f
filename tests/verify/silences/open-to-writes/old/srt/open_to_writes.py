class Args:
    def __init__(self): self.rows = 1
    def seal(self): return 1
