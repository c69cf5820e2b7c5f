class Keeper:
    def __init__(self):
        self.reset()

    def reset(self):
        self.held = []

    def match(self, key):
        return self.held
