"""Answers that are kept in a variable, and attributes that are set where there is none."""

from __future__ import annotations

from collections.abc import Callable

import pytest

OLD = {
    "srt/home.py": """
class Batch:
    def __init__(self):
        self.kept = 1
        self.lost: int = 2
        self.lost2: int = 2
    def go(self): pass
    def gone(self): pass
class Sched:
    def __init__(self):
        self.size: int = 2
""",
}
NEW = {
    "srt/home.py": """
class Batch:
    def __init__(self):
        self.kept = 1
    def go(self): pass
class Sched:
    def __init__(self):
        self.other: int = 2
""",
}
HEAD = """
from sglang.srt.home import Batch, Sched
"""

Trouble = Callable[..., list[str]]

ASKED = {
    "all, used thrice": """
OK = all(hasattr(Batch, n) for n in ("gone", "go"))
def f1(b: Batch):
    if OK:
        b.gone()
    if not OK:
        b.go()
    if OK:
        Batch.gone(b)
""",
    "and, used twice": """
def f2(b: Batch):
    ok = hasattr(b, "lost") and hasattr(b, "lost2")
    if ok:
        x = b.lost
    y = 1
    if ok:
        return b.lost2
    return None
""",
    "written where getattr gives None": """
def f3(s: Sched, value=0):
    if getattr(s, "size", None) is None:
        s.size = value
    return s
""",
    "written in a try": """
def f4(s: Sched, value=0):
    try:
        s.size = value
    except AttributeError:
        pass
""",
    "written where getattr is false": """
def f7(s: Sched):
    if not getattr(s, "size", 0):
        s.size = 3
""",
    "what getattr gave is None": """
def f8(s: Sched):
    size = getattr(s, "size", None)
    if size is None:
        s.size = 3
""",
    "kept on an object": """
class P:
    def __init__(self, b: Batch):
        self.b = b
        self.ok = all(hasattr(b, n) for n in ("lost", "lost2"))
    def f(self):
        if self.ok:
            return self.b.lost
        return None
    def g(self):
        if not self.ok:
            return None
        return self.b.lost2
""",
    "names that are missing": """
NAMES = ("lost", "lost2")
def f10(b: Batch):
    missing = [n for n in NAMES if not hasattr(b, n)]
    if missing:
        return None
    return b.lost + b.lost2
""",
    "a flag set in a loop": """
def f11(b: Batch):
    supported = True
    for n in ("lost", "lost2"):
        if not hasattr(b, n):
            supported = False
    if supported:
        return b.lost
    return None
""",
    "any not": """
def f13(b: Batch):
    if any(not hasattr(b, n) for n in ("lost", "lost2")):
        return None
    return b.lost
""",
    "isinstance of getattr": """
def f16(b: Batch):
    with_lost = isinstance(getattr(b, "lost", None), int)
    if with_lost:
        b.lost += 1
    if with_lost:
        return b.lost
""",
    "callable": """
def f20(b: Batch):
    can = callable(getattr(b, "gone", None))
    if can:
        b.gone()
    if can:
        b.gone()
""",
    "a set of names": """
def f22(b: Batch):
    fields = set(vars(b))
    if {"lost", "lost2"} <= fields:
        return b.lost
""",
    "bases": """
HAS = any("lost" in vars(c) or "lost" in getattr(c, "__annotations__", {}) for c in Batch.__mro__)
def f23(b: Batch):
    if HAS:
        return b.lost
""",
    "written from itself": """
def f24(s: Sched):
    s.size = getattr(s, "size", 1)
    return s.size
""",
    "written under and": """
def f27(s: Sched):
    if s is not None and getattr(s, "size", None) is None:
        s.size = 3
""",
    "a set of what is missing": """
def f31(b: Batch):
    missing = {n for n in ("lost", "lost2") if not hasattr(b, n)}
    if not missing:
        return b.lost
""",
    "refused while it is not there": """
def f(s: Sched):
    if not hasattr(s, "other"):
        raise RuntimeError("too old")
    return s.other
""",
    "refused in an attempt": """
def f(b: Batch):
    try:
        if not hasattr(b, "lost"):
            raise ImportError("too new")
        return b.lost
    except ImportError:
        return b.kept
""",
}
NOT_ASKED: dict[str, tuple[str, list[str]]] = {
    "another truth": (
        """
def f1(b: Batch):
    ok = b is not None
    if ok:
        print(1)
    r = None
    if ok:
        r = b.lost
    return r
""",
        ["error sglang.srt.home:Batch.lost"],
    ),
    "another attribute": (
        """
def f2(b: Batch):
    ok = hasattr(b, "kept")
    if ok:
        return b.lost
""",
        ["error sglang.srt.home:Batch.lost"],
    ),
    "another exception": (
        """
def f3(b: Batch, d=None):
    try:
        v = b.lost
    except KeyError:
        v = d
    return v
""",
        ["error sglang.srt.home:Batch.lost"],
    ),
    "another attribute is None": (
        """
def f4(s: Sched):
    if getattr(s, "other", None) is None:
        s.size = 3
""",
        ["warning sglang.srt.home:Sched.size"],
    ),
    "written at any rate": (
        """
def f5(s: Sched):
    s.size = 3
""",
        ["warning sglang.srt.home:Sched.size"],
    ),
    "the truth is overwritten": (
        """
def f6(b: Batch):
    ok = hasattr(b, "lost")
    ok = True
    if ok:
        return b.lost
""",
        ["error sglang.srt.home:Batch.lost"],
    ),
    "the wrong way round": (
        """
def f7(b: Batch):
    ok = hasattr(b, "lost")
    if not ok:
        return b.lost
""",
        ["error sglang.srt.home:Batch.lost"],
    ),
    "any of several": (
        """
def f8(b: Batch):
    ok = any(hasattr(b, n) for n in ("lost", "kept"))
    if ok:
        return b.lost
""",
        ["error sglang.srt.home:Batch.lost"],
    ),
    "written, another exception": (
        """
def f10(b: Batch, v):
    try:
        b.lost = v
    except ValueError:
        pass
""",
        ["warning sglang.srt.home:Batch.lost"],
    ),
    "another object's is None": (
        """
def f11(b: Batch, o: Sched):
    if getattr(o, "lost", None) is None:
        b.lost = 2
""",
        ["warning sglang.srt.home:Batch.lost"],
    ),
    "other names are missing": (
        """
def f12(b: Batch):
    missing = [n for n in ("kept",) if not hasattr(b, n)]
    if missing:
        return None
    return b.lost
""",
        ["error sglang.srt.home:Batch.lost"],
    ),
    "another one is written": (
        """
def f13(b: Batch):
    if not getattr(b, "lost", None):
        b.lost2 = 3
""",
        ["warning sglang.srt.home:Batch.lost2"],
    ),
    "what is missing is only told": (
        """
def f15(b: Batch, names):
    missing = [n for n in ("lost", "lost2") if not hasattr(b, n)]
    if missing:
        print(missing)
    return b.lost
""",
        ["error sglang.srt.home:Batch.lost"],
    ),
    "insisted on": (
        """
def f(b: Batch):
    assert hasattr(b, "lost"), "too new"
    return b.kept
""",
        ["error sglang.srt.home:Batch.lost"],
    ),
    "refused without": (
        """
def f(b: Batch):
    if not hasattr(b, "lost"):
        raise RuntimeError("too new")
    return b.kept
""",
        ["warning sglang.srt.home:Batch.lost"],
    ),
}


@pytest.mark.parametrize("form", ASKED)
def test_what_was_asked_for_before_is_no_trouble(trouble: Trouble, form: str) -> None:
    assert trouble(OLD, NEW, HEAD + ASKED[form]) == []


@pytest.mark.parametrize("form", NOT_ASKED)
def test_what_another_question_was_asked_for_is_told(trouble: Trouble, form: str) -> None:
    text, expected = NOT_ASKED[form]
    assert trouble(OLD, NEW, HEAD + text) == expected
