from sglang.srt.pool import Linker
class Half(Linker):
    def load(self):
        return 1


class Own(Half):
    def finish(self, index):
        return index
