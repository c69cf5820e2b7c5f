class Stats:
    def __init__(self):
        self.lost = 1
class Item:
    stats: Stats
