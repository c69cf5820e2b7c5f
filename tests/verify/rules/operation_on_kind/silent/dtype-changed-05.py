from sglang.srt.calls import Window
def f(w: Window):
    return (w.limit or 1) * 2, w.limit == 1
