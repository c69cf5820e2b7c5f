from sglang.srt.calls import Window
def f(w: Window):
    return w.limit * 2 if w.limit else 0
