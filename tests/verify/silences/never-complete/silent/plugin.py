from sglang.srt.never_complete import Old


class Mine(Old):
    pass


made = Mine()
