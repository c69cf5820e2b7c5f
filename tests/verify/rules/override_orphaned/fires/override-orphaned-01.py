from sglang.srt.pool import Pool
class Own(Pool):
    def old_hook(self):
        return 1
