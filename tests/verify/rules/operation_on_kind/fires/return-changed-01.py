from sglang.srt.calls import Window
def f(w: Window):
    name = w.anchor()
    return name.lower() if name else None
