# nobody who runs on such an object calls it as the new release does
from sglang.srt.loop import Loop
class Own(Loop):
    def turn(self, row): return row
    def round(self): return self.turn(2)
