from sglang.srt.calls import Window
def f(w: Window):
    return w.table['a'], w.table.__len__()
