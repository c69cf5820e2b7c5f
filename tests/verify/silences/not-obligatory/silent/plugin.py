from sglang.srt.not_obligatory import Hook


class Mine(Hook):
    pass
