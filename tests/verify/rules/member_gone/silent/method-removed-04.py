# what an annotation says is not all there is where the plugin puts something else
from sglang.srt.stats import Item, Stats
def g(item: Item):
    item.stats = Stats()


def f(item: Item):
    return item.stats.mark()
