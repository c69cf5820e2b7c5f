from sglang.srt.calls import Window
def f(w: Window):
    return w.names.lower(), w.rows.__len__()
