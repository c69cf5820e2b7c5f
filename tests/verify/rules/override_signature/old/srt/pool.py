class Pool:
    def copy(self, rows): return rows
    def put(self, layer, loc): return loc
    def old_hook(self): raise NotImplementedError()
    def plain(self): return 1
