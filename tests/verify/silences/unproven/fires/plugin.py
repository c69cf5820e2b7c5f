from sglang.srt.unproven import shifted


def use():
    return shifted([1])
