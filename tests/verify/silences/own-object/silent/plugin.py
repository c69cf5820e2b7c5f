from sglang.srt.own_object import Item


class Own:
    def __init__(self):
        self.lost = 1


def fill(item: Item):
    item.stats = Own()


def use(item: Item):
    return item.stats.lost
