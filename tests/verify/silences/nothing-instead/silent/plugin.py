from sglang.srt.nothing_instead import Stepper


class Mine(Stepper):
    def begin(self): return 2
