from sglang.srt.calls import put
def f(mask):
    put(mask)
