from sglang.srt.calls import Window
def f(w: Window):
    while w.limit is not None and w.limit > 1:
        w.step()
