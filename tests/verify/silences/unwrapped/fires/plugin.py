from sglang.srt.unwrapped import Plain


def use(plain: Plain):
    one, two = plain.pair
    return one
