from sglang.srt.stepper import Stepper
class Own(Stepper):
    def begin(self, memory): return memory
