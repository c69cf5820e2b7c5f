from sglang.srt.calls import Window
def f(w: Window):
    a, b = w.two
    return a * b
