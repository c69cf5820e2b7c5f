from sglang.srt.pool import Spec
class Own(Spec):
    def __getattr__(self, name):
        return 1
