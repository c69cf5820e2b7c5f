from sglang.srt.open_to_writes import Args


def use():
    args = Args()
    args.rows = 2
    return args
