from sglang.srt.calls import Window
def f(w: Window):
    rows = w.rows
    return rows.cpu() if hasattr(rows, 'cpu') else rows
