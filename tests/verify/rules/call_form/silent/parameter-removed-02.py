from sglang.srt.calls import fewer
def f(*a, **k):
    return fewer(*a, **k)
