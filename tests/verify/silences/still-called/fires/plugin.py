from sglang.srt.still_called import Turner


class Mine(Turner):
    def turn(self):
        return 2
