from sglang.srt.calls import Window
def f(w: Window):
    return w.limit * 2
