# an argument of another name
from sglang.srt.calls import free
def f(i, keep_it):
    free(i, keep_it)
