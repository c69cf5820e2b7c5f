from sglang.srt.loop import Loop
class Own(Loop):
    def turn(self, row): return row
    def run(self): return super().run()
