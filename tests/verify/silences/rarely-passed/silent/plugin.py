from sglang.srt.rarely_passed import Loop


class Mine(Loop):
    def turn(self, rows): return rows
