class Loop:
    def run(self): return self.round()
    def round(self): return self.turn(1)
    def turn(self, row): return row


class Rack:
    def hang(self, row): return row


class Side(Rack):
    def go(self): return self.hang(1)


class Hook:
    def tie(self, row): return row


class Middle(Hook):
    def tie(self, row, deep=False): return row


class Low(Middle):
    def go(self): return self.tie(1)


class Store:
    def lookup(self, rows): return rows


def search(row_index, store):
    row_index.lookup([1], True)
    store.lookup([1])
