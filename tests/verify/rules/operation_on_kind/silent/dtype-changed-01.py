# the class fills it in; and keys of a mapping that was merely annotated before
from sglang.srt.calls import Filled
def f(w: Filled):
    return w.size * 2, w.chart['b']
