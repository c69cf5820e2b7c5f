class Bag:
    def fill(self, rows, extra=None): return rows
