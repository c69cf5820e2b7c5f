from sglang.srt.calls import put
def f(self, rows):
    put(rows, self.mask)
