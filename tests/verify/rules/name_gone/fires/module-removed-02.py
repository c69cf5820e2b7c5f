def f():
    import sglang.srt.gone as g
    return g
