from sglang.srt.loop import Crate
class Own(Crate):
    def lift(self):
        return self.count()
