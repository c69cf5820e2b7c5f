from sglang.srt.calls import typed
def f(x):
    return typed(x)
