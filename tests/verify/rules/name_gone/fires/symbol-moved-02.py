def f():
    from sglang.srt.names import Mover
