class Batch:
    def __init__(self):
        self.kept = 1
        self.lost = 1
