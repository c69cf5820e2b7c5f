from functools import partial
from sglang.srt.calls import renamed
def f(a):
    g = partial(renamed, a)
    return g(group_size=2)
