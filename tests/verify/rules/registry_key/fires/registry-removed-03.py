from sglang.srt.tables import TABLE
def take(name):
    return TABLE[name]


x = take('beta')
