from sglang.srt.calls import waits
def f():
    return waits(1).real
