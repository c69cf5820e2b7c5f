from sglang.srt.batch import Phase
def f(p):
    return p in {Phase.LEFT}
