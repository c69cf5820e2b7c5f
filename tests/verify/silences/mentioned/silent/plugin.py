from sglang.srt.mentioned import Crate, Record


class Mine(Crate):
    def lift(self):
        return Record()
