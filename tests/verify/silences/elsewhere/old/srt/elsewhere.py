class Batch:
    def __init__(self): self.kept = 1
class Other:
    def __init__(self): self.rows = 1
