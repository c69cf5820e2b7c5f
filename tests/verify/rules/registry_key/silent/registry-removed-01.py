from sglang.srt.tables import TABLE
def take(name):
    return TABLE[name] if name in TABLE else None


x = take('beta')
