from sglang.srt.calls import sorts
def f(x):
    return 1 if sorts(x) else 2
