from sglang.srt.pool import Pool
class Own(Pool):
    def its_own(self):
        return 1
