from sglang.srt.own_object import Item


class Own:
    def __init__(self):
        self.lost = 1


class Shelf:
    def fill(self):
        self.stats = Own()


def use(item: Item):
    return item.stats.lost
