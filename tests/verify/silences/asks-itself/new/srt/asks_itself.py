class Pool:
    def put(self, layer, loc): return loc
