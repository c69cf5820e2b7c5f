from sglang.srt.calls import halves
def f(x):
    rows, n = halves(x)
    return len(rows) + n
