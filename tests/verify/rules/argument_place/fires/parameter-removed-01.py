from sglang.srt.calls import free
def f(self, i):
    free(i, self.pool_rows)
