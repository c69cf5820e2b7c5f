from sglang.srt.never_complete import Hook


class Mine(Hook):
    pass


made = Mine()
