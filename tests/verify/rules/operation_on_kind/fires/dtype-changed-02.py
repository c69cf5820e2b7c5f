from sglang.srt.calls import Window
def f(w: Window):
    return [p.numpy() for p in w.parts]
