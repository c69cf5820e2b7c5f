from sglang.srt.never_fitted import put


def use():
    return put(1, 2, 3)
