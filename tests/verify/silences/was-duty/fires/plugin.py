from sglang.srt.was_duty import Plain


class Mine(Plain):
    def swing(self): return 2
