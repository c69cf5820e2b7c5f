from sglang.srt.calls import put
def f(rows, mask):
    put(rows, mask=mask)
