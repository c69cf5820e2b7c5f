from sglang.srt.overridden_below import Pool


class Base(Pool):
    def run(self):
        return self.put(1, deep=True)


class Mine(Base):
    def put(self, rows, deep=False):
        return rows
