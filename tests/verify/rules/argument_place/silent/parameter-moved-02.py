from sglang.srt.calls import put
def f(rows, other):
    put(rows, other)
