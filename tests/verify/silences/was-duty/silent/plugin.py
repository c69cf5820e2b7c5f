from sglang.srt.was_duty import Turner


class Mine(Turner):
    def turn(self): return 2
