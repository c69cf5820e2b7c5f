from sglang.srt.asks_itself import Pool


class Mine(Pool):
    def put(self, layer, loc):
        return self.rows[getattr(layer, "rows", layer)], self.rows[loc]
