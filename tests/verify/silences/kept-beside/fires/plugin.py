from sglang.srt.kept_beside import Turner


class Mine(Turner):
    def turn(self): return 2


class Other:
    def turn_all(self): return 2
