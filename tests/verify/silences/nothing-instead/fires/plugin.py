from sglang.srt.nothing_instead import Turner


class Mine(Turner):
    def turn(self): return 2
