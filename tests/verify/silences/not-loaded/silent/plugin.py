from sglang.srt.plugins.hooks import Hook


class Mine(Hook):
    pass
