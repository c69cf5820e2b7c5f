from sglang.srt.loops import Loop
class Own(Loop):
    def move(self, rows, *rest): return 2
