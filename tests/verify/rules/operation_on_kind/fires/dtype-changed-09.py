from sglang.srt.calls import Window
def f(w: Window):
    return w.limit > 0 and w.limit == 1
