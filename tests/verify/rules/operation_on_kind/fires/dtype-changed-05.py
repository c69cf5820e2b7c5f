from sglang.srt.calls import Window
def f(w: Window):
    t = w.table or []
    return t[0] if t else 0
