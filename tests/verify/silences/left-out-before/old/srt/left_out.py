class Keeper:
    def __init__(self):
        self.reset()

    def reset(self):
        self.held = []
        self.spare = []

    def match(self, key):
        return self.held, self.spare
