class Keeper:
    def __init__(self):
        self.reset()

    def reset(self):
        self.held = []
        self.nothing = ()

    def match(self, key):
        return self.held or self.nothing
