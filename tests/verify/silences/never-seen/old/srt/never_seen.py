class Batch:
    def __init__(self): self.kept = 1
    def put(self, rows): return rows
