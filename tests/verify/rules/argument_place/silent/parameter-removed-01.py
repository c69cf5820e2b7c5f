# a new name for the same parameter
from sglang.srt.calls import grow
def f(flash_mask):
    grow(1, flash_mask)
