from sglang.srt.rarely_passed import Wheel


class Mine(Wheel):
    def spin(self, rows): return rows
