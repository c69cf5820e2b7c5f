from sglang.srt.not_obligatory import Duty


class Mine(Duty):
    pass
