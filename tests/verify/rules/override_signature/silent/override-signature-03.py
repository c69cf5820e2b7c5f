from sglang.srt.pool import Pool
class Mixin:
    def copy(self, rows, mask=None): return rows


class Own(Mixin, Pool):
    pass
