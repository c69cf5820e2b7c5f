from sglang.srt.loop import Loop
class Mixin:
    def turn(self, row): return row


class Own(Mixin, Loop):
    pass
