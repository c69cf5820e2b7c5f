from sglang.srt.calls import sorts
def f(x):
    done = sorts(x)
    if not done:
        x.clear()
