from sglang.srt.calls import waits
def f():
    waits(1)
