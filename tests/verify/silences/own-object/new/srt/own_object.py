class Stats:
    def __init__(self):
        self.kept = 1
class Item:
    stats: Stats
