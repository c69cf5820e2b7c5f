class Batch:
    def __init__(self):
        self.kept = 1
        self.rows = 1
        self.columns = 1
class Other:
    def __init__(self): self.rows = 1
