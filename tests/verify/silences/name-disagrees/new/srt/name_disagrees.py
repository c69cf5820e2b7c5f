class Batch:
    def __init__(self):
        self.kept = 1
