import sglang.srt.first as first
import sglang.srt.second as second


def own(size=0):
    return None


first.make = own
if hasattr(second, "make"):
    second.make = own
