import sglang.srt.first as first
import sglang.srt.third as third


def own(size=0):
    return None


first.make = own
if hasattr(third, "make"):
    third.make = own
