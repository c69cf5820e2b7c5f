from sglang.srt.pool import Linker
class Own(Linker):
    def load(self):
        return 1

    def finish(self, index):
        return index
