class Pool:
    def put(self, rows, deep=False): return rows
class Tank:
    def fill(self, rows, deep=False): return rows
