from sglang.srt.asks_itself import Pool


class Mine(Pool):
    def put(self, layer, loc):
        return self.rows[getattr(loc, "rows", loc)]
