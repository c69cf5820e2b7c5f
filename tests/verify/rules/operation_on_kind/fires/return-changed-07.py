from sglang.srt.calls import Window
def f(w: Window, x):
    return list(x) + w.tail
