from sglang.srt.handed_on import Crate


class Mine(Crate):
    def lift(self):
        return super().lift()
