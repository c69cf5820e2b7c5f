from sglang.srt.calls import Window
def f(w: Window):
    return w.held.cpu()
