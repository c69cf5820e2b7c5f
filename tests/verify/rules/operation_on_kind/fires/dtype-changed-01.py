from sglang.srt.calls import Window
def f(w: Window, i):
    rows = w.rows
    return rows.index_select(0, i)
