from sglang.srt.asked_for import Spec, get_rows


class Mine(Spec):
    def __init__(self):
        self.columns = get_rows()
