class Keeper:
    def __init__(self):
        self.reset()

    def reset(self):
        self.held = []
        self.spare = []
        self.fresh = ()

    def match(self, key):
        return self.held, self.spare, self.fresh
