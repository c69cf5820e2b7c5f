from sglang.srt.calls import needs
def f(*a):
    return needs(*a)
