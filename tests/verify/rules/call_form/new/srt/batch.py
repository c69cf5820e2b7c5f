class Bag:
    def fill(self, rows): return rows
