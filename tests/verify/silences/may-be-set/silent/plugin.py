from sglang.srt.may_be_set import Spec


class Mine(Spec):
    pass
