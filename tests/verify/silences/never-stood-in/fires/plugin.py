from sglang.srt.never_stood_in import Loop


class Mine(Loop):
    def turn(self, rows, mask): return rows
