from sglang.srt.loops import Loop
class Own(Loop):
    def turn(self): return 2
