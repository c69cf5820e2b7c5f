try:
    from sglang.srt.names import dropped
except ImportError:
    dropped = None


def f(x):
    if dropped is not None:
        return dropped(x)
    return x + 1
