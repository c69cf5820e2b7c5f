class Pool:
    def put(self, rows): return rows
