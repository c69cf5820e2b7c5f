# it travels in a box, and its class takes it out
from sglang.srt.calls import Crate
def f(c: Crate):
    return [x for x in c.load]
