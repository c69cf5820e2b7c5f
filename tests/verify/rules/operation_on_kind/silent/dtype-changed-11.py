from sglang.srt.calls import Window
def f(w: Window):
    rows = w.rows
    if isinstance(rows, list):
        return rows
    return rows.cpu()
