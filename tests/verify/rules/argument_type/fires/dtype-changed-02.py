from sglang.srt.calls import typed
def f(a, b):
    return typed(a - b)
