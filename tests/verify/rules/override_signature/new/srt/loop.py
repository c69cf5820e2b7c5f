class Loop:
    def run(self): return self.round()
    def round(self): return self.turn(1, deep=True)
    def turn(self, row, deep=False): return row


class Rack:
    def hang(self, row, deep=False): return row


class Side(Rack):
    def go(self): return self.hang(1, True)


class Hook:
    def tie(self, row, deep=False): return row


class Middle(Hook):
    def tie(self, row, deep=False): return row


class Low(Middle):
    def go(self): return self.tie(1, True)


class Store:
    def lookup(self, rows, deep=False): return rows


def search(row_index, store):
    row_index.lookup([1], True)
    store.lookup([1])
