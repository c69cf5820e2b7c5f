class Pool:
    def put(self, rows): return rows
class Deep(Pool):
    def put(self, rows, deep=False): return rows
class Tank:
    def fill(self, rows): return rows
class Other:
    def fill(self, rows, deep=False): return rows
