from sglang.srt.filled_in import Plain


def use(plain: Plain):
    return plain.width > 1
