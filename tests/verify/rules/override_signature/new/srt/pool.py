class Pool:
    def copy(self, rows, mask=None): return rows
    def put(self, layer, loc): return loc
    def new_hook(self, phase): raise NotImplementedError()
    def plain(self, kept=0): return 1
