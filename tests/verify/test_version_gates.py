"""Gates by version, joined with other tests, around definitions and argument lists."""

from __future__ import annotations

from collections.abc import Callable

import pytest

OLD = {
    "srt/home.py": """
class Batch:
    def __init__(self):
        self.kept = 1
        self.lost: int = 2
class Sched:
    def __init__(self):
        self.size: int = 2
def grows(a, extra=None): pass
""",
}
NEW = {
    "srt/home.py": """
class Batch:
    def __init__(self):
        self.kept = 1
class Sched:
    def __init__(self):
        self.other: int = 2
def grows(a): pass
def fresh(): pass
""",
}
HEAD = """
from importlib.metadata import version
from packaging.version import Version
from sglang.srt import home
from sglang.srt.home import Batch, Sched
E = Version(version("sglang"))
"""

Trouble = Callable[..., list[str]]

FINE = {
    "joined with and": """
def f1(b: Batch, trace=False):
    if E < Version("0.5.2") and trace:
        return b.lost
    return None
""",
    "left early": """
def f2(b: Batch):
    if E >= Version("0.5.2"):
        return None
    return b.lost
""",
    "a function in a try": """
def reader():
    try:
        def read(b: Batch):
            try:
                return b.lost
            except AttributeError:
                return None
        return read
    except ImportError:
        return None
""",
    "set and read back": """
def f4(s: Sched, meter):
    setattr(s, "size", meter)
    return s.size
""",
    "the new side, joined": """
def f6(b: Batch, flag):
    if flag and E >= Version("0.5.2"):
        from sglang.srt.home import fresh
        return fresh()
""",
    "a list filled under a gate": """
def f7(b: Batch, a):
    args = [a]
    if E < Version("0.5.2"):
        args.append(1)
    return home.grows(*args)
""",
    "a dict filled under a gate": """
def f8(b: Batch, a):
    kw = {}
    if E < Version("0.5.2"):
        kw["extra"] = 1
    return home.grows(a, **kw)
""",
    "alternatives, joined": """
def f16(b: Batch, x):
    if x == "a" and E >= Version("0.5.2"):
        v = 1
    elif x == "b" and E >= Version("0.5.2"):
        v = 2
    elif E < Version("0.5.2"):
        v = 3
    return v
""",
    "apart, joined": """
def f17(b: Batch, x):
    if E >= Version("0.5.2") and x:
        v = 1
    if E >= Version("0.5.2") and not x:
        v = 2
    if E < Version("0.5.2"):
        v = b.lost
    return v
""",
    "a case": """
def f21(b: Batch, x):
    match x:
        case "a" if E < Version("0.5.2"):
            return b.lost
""",
    "taken from a list": """
def f22(b: Batch, a):
    params = [a, 1]
    if E >= Version("0.5.2"):
        params.pop()
    return home.grows(*params)
""",
    "a list filled under a question": """
def f23(b: Batch, a):
    args = [a]
    if hasattr(b, "lost"):
        args.append(1)
    return home.grows(*args)
""",
    "a dict filled under a question": """
def f24(b: Batch, a):
    kw = dict()
    if hasattr(b, "lost"):
        kw.update(extra=1)
    return home.grows(a, **kw)
""",
}
TOLD: dict[str, tuple[str, list[str]]] = {
    "joined with or": (
        """
def f1(b: Batch, trace=False):
    if E < Version("0.5.2") or trace:
        return b.lost
    return None
""",
        ["error sglang.srt.home:Batch.lost"],
    ),
    "the gate ends before": (
        """
def f2(b: Batch):
    if E < Version("0.5.2"):
        print(1)
    return b.lost
""",
        ["error sglang.srt.home:Batch.lost"],
    ),
    "the other side, joined": (
        """
def f3(b: Batch, trace=False):
    if E >= Version("0.5.2") and trace:
        return b.lost
    return b.kept
""",
        ["error sglang.srt.home:Batch.lost"],
    ),
    "set on another object": (
        """
def f4(s: Sched, o, meter):
    setattr(o, "size", meter)
    return s.size
""",
        ["error sglang.srt.home:Sched.size"],
    ),
    "read before it is set": (
        """
def f5(s: Sched, meter):
    v = s.size
    s.size = meter
    return v
""",
        ["error sglang.srt.home:Sched.size"],
    ),
    "more arguments at any rate": (
        """
def f8(a):
    args = [a, 1]
    return home.grows(*args)
""",
        ["error sglang.srt.home:grows(extra)"],
    ),
    "the try is not around the call": (
        """
def reader():
    try:
        def read(b: Batch):
            return b.lost
        return read
    except AttributeError:
        return None
""",
        ["error sglang.srt.home:Batch.lost"],
    ),
}


@pytest.mark.parametrize("form", FINE)
def test_what_a_gate_keeps_away_is_no_trouble(trouble: Trouble, form: str) -> None:
    assert trouble(OLD, NEW, HEAD + FINE[form]) == []


@pytest.mark.parametrize("form", TOLD)
def test_what_gets_past_a_gate_is_told(trouble: Trouble, form: str) -> None:
    text, expected = TOLD[form]
    assert trouble(OLD, NEW, HEAD + text) == expected
