from sglang.srt.stats import Item
def f(item: Item):
    return item.stats.mark()
