class ForwardBatch:
    def __init__(self):
        self.kept = 1
        self.lost = 1
        self.gone = 1
