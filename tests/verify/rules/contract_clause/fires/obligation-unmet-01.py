from sglang.srt.pool import Spec
class Own(Spec):
    pass
