"""Keywords that ``**`` hands on, wherever the dict is made: what SGLang takes no more is told."""

from __future__ import annotations

import pytest

_ARGS = """
    from dataclasses import dataclass
    @dataclass
    class Args:
        path: str
        tp: int = 1
        gone: str = ""
    def start(path, tp=1, gone=""):
        return path
"""
OLD = {"__init__.py": "", "srt/__init__.py": "", "srt/args.py": _ARGS}
NEW = OLD | {"srt/args.py": _ARGS.replace('        gone: str = ""\n', "").replace(', gone=""', "")}
HEAD = """from sglang.srt.args import Args, start
from dataclasses import dataclass, asdict
"""

TOLD = {
    "plain": """
def f(): return Args("p", gone="x")
""",
    "literal": """
def f(): return Args(**{"path": "p", "gone": "x"})
""",
    "name": """
def f():
    kw = {"path": "p"}
    kw["gone"] = "x"
    return Args(**kw)
""",
    "module-const": """
KW = dict(path="p", gone="x")
def f(): return Args(**KW)
""",
    "function": """
def kw(): return {"path": "p", "gone": "x"}
def f(): return Args(**kw())
""",
    "function-built": """
def kw():
    out = {"path": "p"}
    out["gone"] = "x"
    return out
def f(): return Args(**kw())
""",
    "function-dict": """
def kw():
    out = dict(path="p")
    out.update(gone="x")
    return out
def f(): return start(**kw())
""",
    "function-var": """
def kw(): return {"path": "p", "gone": "x"}
def f():
    made = kw()
    return Args(**made)
""",
    "function-var-set": """
def kw(): return {"path": "p", "gone": "x"}
def f():
    made = kw()
    made["tp"] = 2
    return Args(**made)
""",
    "method": """
class A:
    def kw(self):
        out = {"path": "p"}
        out["gone"] = 1
        return out
def f(a: A): return Args(**a.kw())
""",
    "self-method": """
class A:
    def kw(self): return {"path": "p", "gone": 1}
    def f(self): return Args(**self.kw())
""",
    "inherited-method": """
class B:
    def kw(self): return {"path": "p", "gone": 1}
class A(B):
    def f(self): return Args(**self.kw())
""",
    "property": """
class A:
    @property
    def kw(self): return {"path": "p", "gone": 1}
    def f(self): return Args(**self.kw)
""",
    "static": """
class A:
    @staticmethod
    def kw(): return {"path": "p", "gone": 1}
def f(): return Args(**A.kw())
""",
    "class-attr": """
class A:
    KW = {"path": "p", "gone": 1}
    def f(self): return Args(**self.KW)
""",
    "init-attr": """
class A:
    def __init__(self):
        self.kw = {"path": "p", "gone": 1}
    def f(self): return Args(**self.kw)
""",
    "merge": """
BASE = {"gone": 1}
def f(): return Args(**{**BASE, "path": "p"})
""",
    "merge-or": """
BASE = {"gone": 1}
def f(): return Args(**(BASE | {"path": "p"}))
""",
    "dict-copy": """
BASE = {"gone": 1}
def f():
    kw = dict(BASE, path="p")
    return Args(**kw)
""",
    "copy-method": """
BASE = {"gone": 1}
def f():
    kw = BASE.copy()
    kw["path"] = "p"
    return Args(**kw)
""",
    "two-spreads": """
def kw(): return {"gone": 1}
def f(): return Args(**{"path": "p"}, **kw())
""",
    "subclass": """
class Preset(dict): pass
def kw():
    p = Preset(path="p")
    p.update(gone=1)
    return p
def f(): return Args(**kw())
""",
    "update-dict": """
def kw():
    p = {"path": "p"}
    p.update({"gone": 1})
    return p
def f(): return Args(**kw())
""",
    "setdefault": """
def kw():
    p = {"path": "p"}
    p.setdefault("gone", 1)
    return p
def f(): return Args(**kw())
""",
    "asdict": """
@dataclass
class Spec:
    path: str
    gone: str = ""
def f(s: Spec): return Args(**asdict(s))
""",
    "vars": """
@dataclass
class Spec:
    path: str
    gone: str = ""
def f(s: Spec): return Args(**vars(s))
""",
    "asdict-self": """
@dataclass
class Spec:
    path: str
    gone: str = ""
    def build(self): return Args(**asdict(self))
""",
    "typed-dict": """
from typing import TypedDict
class Kw(TypedDict):
    path: str
    gone: str
def f(kw: Kw): return Args(**kw)
""",
    "argparse": """
import argparse
PREFIX = "sgl_"
def cli(p):
    p.add_argument("--sgl-path")
    p.add_argument("--sgl-gone", default="")
def f(ns):
    kw = {k[len(PREFIX):]: v for k, v in vars(ns).items() if k.startswith(PREFIX)}
    return Args(**kw)
""",
    "argparse-removeprefix": """
def cli(p):
    p.add_argument("--sgl-path")
    p.add_argument("--sgl-gone", default="")
def f(ns):
    return Args(**{k.removeprefix("sgl_"): v for k, v in vars(ns).items() if k.startswith("sgl_")})
""",
    "partial": """
import functools
make = functools.partial(Args, gone=1)
def f(): return make("p")
""",
    "pop-other": """
def kw():
    p = {"path": "p", "gone": 1, "mine": 2}
    p.pop("mine")
    return p
def f(): return Args(**kw())
""",
}
"""Way of making the dict → a plugin that passes ``gone``."""

SILENT = {
    "popped": """
def kw():
    p = {"path": "p", "gone": 1}
    p.pop("gone")
    return p
def f(): return Args(**kw())
""",
    "filtered": """
import inspect
def kw(): return {"path": "p", "gone": 1}
def f():
    ok = inspect.signature(Args).parameters
    return Args(**{k: v for k, v in kw().items() if k in ok})
""",
    "gated": """
def kw():
    p = {"path": "p"}
    if hasattr(Args, "gone"):
        p["gone"] = 1
    return p
def f(): return Args(**kw())
""",
    "own": """
def own(path, gone): pass
def kw(): return {"path": "p", "gone": 1}
def f(): return own(**kw())
""",
    "two-returns": """
def kw(old):
    if old:
        return {"path": "p", "gone": 1}
    return {"path": "p"}
def f(): return Args(**kw(False))
""",
    "deleted": """
def kw(): return {"path": "p", "gone": 1}
def f():
    made = kw()
    del made["gone"]
    return Args(**made)
""",
    "var-popped": """
def kw(): return {"path": "p", "gone": 1}
def f():
    made = kw()
    made.pop("gone", None)
    return Args(**made)
""",
}
"""Near twins, which do not pass it for certain."""


@pytest.mark.parametrize("way", TOLD)
def test_a_keyword_that_is_gone_is_told_wherever_the_dict_is_made(way, broken_by):
    found = broken_by(OLD, NEW, HEAD + TOLD[way])
    assert any(each.startswith("error") and "gone" in each for each in found)


@pytest.mark.parametrize("way", SILENT)
def test_a_keyword_that_may_be_left_out_is_no_reason_for_a_finding(way, trouble):
    assert trouble(OLD, NEW, HEAD + SILENT[way]) == []
