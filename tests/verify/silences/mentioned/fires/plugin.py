from sglang.srt.mentioned import Crate, Record


class Mine(Crate):
    def lift(self):
        return 2

    def other(self):
        return Record()
