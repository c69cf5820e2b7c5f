class Right:
    def __init__(self):
        self.rows = 1
        self.gone = 1
class Left:
    def __init__(self): self.kept = 1
class Core:
    def __init__(self): self.part = Right()
