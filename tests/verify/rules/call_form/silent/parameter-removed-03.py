# an object of a class that others of the plugin derive from may be one of those
from sglang.srt.batch import Bag
class Own(Bag):
    pass


class Low(Own):
    def fill(self, rows, extra=None):
        return rows


def f(own: Own):
    return own.fill([1], extra=2)
