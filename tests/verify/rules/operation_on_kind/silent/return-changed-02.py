from sglang.srt.calls import keeps
def f(x):
    return 1 if keeps(x) else 2
