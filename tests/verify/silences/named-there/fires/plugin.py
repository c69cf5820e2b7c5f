from sglang.srt.named_there import Turner


class Mine(Turner):
    def turn(self):
        return 2
