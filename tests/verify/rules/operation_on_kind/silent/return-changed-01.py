from sglang.srt.calls import sorts
def f(x):
    sorts(x)
    done = sorts(x)
    return done is None
