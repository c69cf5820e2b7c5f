from sglang.srt.handed_on import Crate


class Mine(Crate):
    def lift(self):
        super().lift()
        return 2
