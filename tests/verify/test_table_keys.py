"""Keys of SGLang's tables, however a plugin names them: a key that is gone is told."""

from __future__ import annotations

import pytest

_REG = """
    from enum import Enum
    TABLE = {"a": 1, "gone": 2}
    CHOICES = ["a", "gone", "c"]
    KINDS = {"a", "gone", "c"}
    ORDER = ("a", "gone", "c")
    class Reg:
        table = {"a": 1, "gone": 2}
    class Mode(Enum):
        A = 1
        gone = 2
    class Opts:
        def __init__(self):
            self.a = 1
            self.gone = 2
"""
_CHANGES = {
    ', "gone": 2': "",
    '"gone", ': "",
    "        gone = 2\n": "",
    "            self.gone = 2\n": "",
}


def _changed(text: str) -> str:
    for old, new in _CHANGES.items():
        assert old in text
        text = text.replace(old, new)
    return text


OLD = {"__init__.py": "", "srt/__init__.py": "", "srt/reg.py": _REG}
NEW = OLD | {"srt/reg.py": _changed(_REG)}
HEAD = """import sglang.srt.reg as reg
from sglang.srt.reg import CHOICES, KINDS, ORDER, TABLE, Mode, Opts, Reg
"""

TOLD = {
    "plain": """
def f(): return TABLE["gone"]
""",
    "module-attr": """
def f(): return reg.TABLE["gone"]
""",
    "class-attr": """
def f(): return Reg.table["gone"]
""",
    "const": """
KEY = "gone"
def f(): return TABLE[KEY]
""",
    "default": """
def f(key="gone"): return TABLE[key]
""",
    "default-kwonly": """
def f(*, key="gone"): return TABLE[key]
""",
    "default-method": """
class A:
    def f(self, key="gone"):
        return TABLE[key]
""",
    "self-const": """
class A:
    KEY = "gone"
    def f(self): return TABLE[self.KEY]
""",
    "cls-const": """
class A:
    KEY = "gone"
    @classmethod
    def f(cls): return TABLE[cls.KEY]
""",
    "Class-const": """
class A:
    KEY = "gone"
def f(): return TABLE[A.KEY]
""",
    "inherited-const": """
class A:
    KEY = "gone"
class B(A):
    def f(self): return TABLE[self.KEY]
""",
    "init-const": """
class A:
    def __init__(self):
        self.key = "gone"
    def f(self): return TABLE[self.key]
""",
    "enum-value": """
import enum
class K(enum.Enum):
    G = "gone"
def f(): return TABLE[K.G.value]
""",
    "pop": """
def f(): return TABLE.pop("gone")
""",
    "del": """
def f():
    del TABLE["gone"]
""",
    "del-module": """
def f():
    del reg.TABLE["gone"]
""",
    "remove": """
def f(): CHOICES.remove("gone")
""",
    "set-remove": """
def f(): KINDS.remove("gone")
""",
    "index": """
def f(): return CHOICES.index("gone")
""",
    "tuple-index": """
def f(): return ORDER.index("gone")
""",
    "alias-index": """
def f():
    c = reg.CHOICES
    c.insert(c.index("gone"), "x")
""",
    "remove-loop": """
DROP = ("gone",)
def f():
    for n in DROP:
        CHOICES.remove(n)
""",
    "read-loop": """
def f():
    for n in ("a", "gone"):
        print(TABLE[n])
""",
    "read-comp": """
def f():
    return [TABLE[n] for n in ("a", "gone")]
""",
    "dict-comp": """
def f():
    return {n: TABLE[n] for n in ["a", "gone"]}
""",
    "table-of-keys": """
ROUTE = {"x": "gone", "y": "a"}
def f():
    for mode, key in ROUTE.items():
        print(TABLE[key])
""",
    "by-table-value": """
ROUTE = {"x": "gone", "y": "a"}
def f(mode):
    return TABLE[ROUTE[mode]]
""",
    "by-table-const": """
ROUTE = {"x": "gone", "y": "a"}
def f():
    return TABLE[ROUTE["x"]]
""",
    "class-table": """
class A:
    KEYS = ("a", "gone")
    def f(self):
        return [TABLE[k] for k in self.KEYS]
""",
    "class-table2": """
class A:
    KEYS = ["gone"]
    def f(self):
        for k in self.KEYS:
            CHOICES.remove(k)
""",
    "itemgetter": """
from operator import itemgetter
def f():
    return itemgetter("a", "gone")(TABLE)
""",
    "attrgetter": """
from operator import attrgetter
def f(o: Opts):
    return attrgetter("gone")(o)
""",
    "attrgetter-const": """
import operator
GET = operator.attrgetter("gone")
def f(o: Opts):
    return GET(o)
""",
    "attrgetter-many": """
import operator
def f(os: list[Opts]):
    return max(os, key=operator.attrgetter("a", "gone"))
""",
    "getattr-loop": """
def f(o: Opts):
    return {n: getattr(o, n) for n in ("a", "gone")}
""",
    "getattr-const": """
class A:
    FIELDS = ("a", "gone")
    def f(self, o: Opts):
        return [getattr(o, n) for n in self.FIELDS]
""",
    "getattr-table-value": """
F = {"x": "gone"}
def f(o: Opts):
    return getattr(o, F["x"])
""",
    "getattr-default-arg": """
def f(o: Opts, name="gone"):
    return getattr(o, name)
""",
    "enum-getattr-const": """
NAME = "gone"
def f(): return getattr(Mode, NAME)
""",
    "helper-call": """
def pick(key):
    return TABLE[key]
def f(): return pick("gone")
""",
    "helper-call-pop": """
def drop(key):
    return TABLE.pop(key)
def f(): return drop("gone")
""",
    "partial-key": """
import functools
def pick(key):
    return TABLE[key]
f = functools.partial(pick, "gone")
""",
    "ifexp": """
def f(x): return TABLE["gone" if x else "a"]
""",
    "slice-assign": """
def f():
    i = CHOICES.index("gone")
    CHOICES[i] = "ours"
""",
    "not-in-raise": """
def f():
    if "gone" not in TABLE:
        raise RuntimeError("need it")
""",
    "assert-in": """
def f():
    assert "gone" in CHOICES
""",
}
"""Way of naming a key → a plugin that needs the entry."""

SILENT = {
    "pop-default": """
def f(): return TABLE.pop("gone", None)
""",
    "discard": """
def f(): KINDS.discard("gone")
""",
    "remove-try": """
def f():
    try:
        CHOICES.remove("gone")
    except ValueError:
        pass
""",
    "del-try": """
def f():
    try:
        del TABLE["gone"]
    except KeyError:
        pass
""",
    "remove-if": """
def f():
    if "gone" in CHOICES:
        CHOICES.remove("gone")
""",
    "remove-loop-if": """
def f():
    for n in ("gone",):
        if n in CHOICES:
            CHOICES.remove(n)
""",
    "self-const-rebound": """
class A:
    KEY = "gone"
    def __init__(self, key):
        self.KEY = key
    def f(self): return TABLE[self.KEY]
""",
    "default-checked": """
def f(key="gone"):
    if key not in TABLE:
        return None
    return TABLE[key]
""",
    "own-table": """
T = {"gone": 1}
def f(key="gone"):
    return T[key]
""",
    "get": """
def f(key="gone", d=None): return TABLE.get(key, d)
""",
}
"""Near twins, which do without the entry."""


@pytest.mark.parametrize("way", TOLD)
def test_a_key_that_is_gone_is_told_however_it_is_named(way, broken_by):
    found = broken_by(OLD, NEW, HEAD + TOLD[way])
    assert any(each.startswith("error") and "gone" in each for each in found)


@pytest.mark.parametrize("way", SILENT)
def test_a_plugin_that_does_without_an_entry_is_left_alone(way, trouble):
    assert trouble(OLD, NEW, HEAD + SILENT[way]) == []
