from sglang.srt.pool import Pool
class Own(Pool):
    def copy(self, rows):
        return rows
