from sglang.srt.stranger import Stranger
class Own(Stranger):
    def advance(self): return 3
