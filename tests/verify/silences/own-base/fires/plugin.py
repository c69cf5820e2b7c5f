from sglang.srt.own_base import Hook


class Base(Hook):
    pass


class Mine:
    def wanted(self):
        return 1
