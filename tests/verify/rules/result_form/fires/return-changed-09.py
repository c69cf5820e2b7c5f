# nothing is raised where a coroutine is made: no except clause sees it
from sglang.srt.calls import waits


def f():
    try:
        waits(1)
    except TypeError:
        raise RuntimeError("never") from None
    except Exception:
        print("never")
