from sglang.srt.asked_for import Spec, get_rows


class Mine(Spec):
    def draft(self):
        return get_rows()
