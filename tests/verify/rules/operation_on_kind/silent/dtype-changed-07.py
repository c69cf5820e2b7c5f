from sglang.srt.calls import Window
def f(w: Window):
    if isinstance(w.table, list):
        return w.table[0]
    return 0
