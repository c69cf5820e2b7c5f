from sglang.srt.calls import Window
def f(w: Window):
    try:
        return w.rows.cpu()
    except AttributeError:
        return [r.cpu() for r in w.rows]
