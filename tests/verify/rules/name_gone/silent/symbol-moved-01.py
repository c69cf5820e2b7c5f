try:
    from sglang.srt.moved import Mover
except ImportError:
    from sglang.srt.names import Mover


def f(x: Mover):
    return x.go()
