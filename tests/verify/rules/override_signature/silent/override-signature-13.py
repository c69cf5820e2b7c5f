# a name of which there is one class, and another one than this
from sglang.srt.loop import Store
class Own(Store):
    def lookup(self, rows): return rows
