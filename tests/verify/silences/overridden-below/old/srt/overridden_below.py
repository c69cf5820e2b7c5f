class Pool:
    def put(self, rows, deep=False): return rows
