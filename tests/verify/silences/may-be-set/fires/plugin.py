from sglang.srt.may_be_set import Spec


class Mine(Spec):
    def __init__(self):
        self.columns = 1
