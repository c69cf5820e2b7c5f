from sglang.srt.calls import digest
def f(x):
    return digest(x) & 255
