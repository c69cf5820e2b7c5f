from sglang.srt.pool import Pool
class Own(Pool):
    def copy(self, *a, **k):
        return a
