from sglang.srt.unproven import shifted


def use(rows):
    return shifted(rows)
