from sglang.srt.calls import Window
def f(w: Window):
    try:
        return w.details['a']
    except TypeError:
        return w.details.tensor
