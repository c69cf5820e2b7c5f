"""Functions of a plugin that SGLang calls, however they were put there: a changed call is told.

Each way puts a function in place of SGLang's own; the second release passes one argument more.
"""

from __future__ import annotations

import pytest

_POOL = """
    class Pool:
        def __init__(self, n: int):
            self.n = n
        def move_gone(self, src, dst):
            return src
        @staticmethod
        def plan_gone(a, b):
            return a
    class Runner:
        def __init__(self, pool: Pool):
            self.pool = pool
        def run(self, src, dst):
            Pool.plan_gone(src, dst)
            self.pool.move_gone(src, dst)
    def worker_gone(args, rank):
        return rank
    class Mixin:
        def step_gone(self: "Sched", batch):
            return batch
    class Sched(Mixin):
        def loop(self, batch):
            self.step_gone(batch)
"""
_CHANGES = {
    "def move_gone(self, src, dst)": "def move_gone(self, src, dst, stream)",
    "self.pool.move_gone(src, dst)": "self.pool.move_gone(src, dst, stream=None)",
    "def plan_gone(a, b)": "def plan_gone(a, b, align)",
    "Pool.plan_gone(src, dst)": "Pool.plan_gone(src, dst, align=1)",
    "def worker_gone(args, rank)": "def worker_gone(args, rank, group)",
    'def step_gone(self: "Sched", batch)': 'def step_gone(self: "Sched", batch, result)',
    "self.step_gone(batch)": "self.step_gone(batch, result=1)",
}


def _changed(text: str) -> str:
    for old, new in _CHANGES.items():
        assert old in text
        text = text.replace(old, new)
    return text


OLD = {"__init__.py": "", "srt/__init__.py": "", "srt/pool.py": _POOL}
NEW = OLD | {"srt/pool.py": _changed(_POOL)}
HEAD = "from sglang.srt.pool import Mixin, Pool, Runner, Sched, worker_gone\n"

TOLD = {
    "assign": """
def mine(self, src, dst):
    return src
Pool.move_gone = mine
""",
    "setattr": """
def mine(self, src, dst):
    return src
setattr(Pool, 'move_gone', mine)
""",
    "patch-object": """
def mine(self, src, dst):
    return src
from unittest.mock import patch
patch.object(Pool, 'move_gone', mine).start()
""",
    "patch-object-kw": """
def mine(self, src, dst):
    return src
from unittest import mock
mock.patch.object(target=Pool, attribute='move_gone', new=mine).start()
""",
    "patch-object-new": """
def mine(self, src, dst):
    return src
from unittest import mock
mock.patch.object(Pool, 'move_gone', new=mine).start()
""",
    "patch-multiple": """
def mine(self, src, dst):
    return src
from unittest import mock
mock.patch.multiple(Pool, move_gone=mine).start()
""",
    "patch-multiple-kw": """
def mine(self, src, dst):
    return src
from unittest import mock
mock.patch.multiple(target=Pool, move_gone=mine).start()
""",
    "patch-multiple-str": """
def mine(self, src, dst):
    return src
from unittest import mock
mock.patch.multiple('sglang.srt.pool.Pool', move_gone=mine).start()
""",
    "patch-multiple-dict": """
def mine(self, src, dst):
    return src
from unittest import mock
mock.patch.multiple(Pool, **{'move_gone': mine}).start()
""",
    "patch-str": """
def mine(self, src, dst):
    return src
from unittest import mock
mock.patch('sglang.srt.pool.Pool.move_gone', mine).start()
""",
    "patch-str-new": """
def mine(self, src, dst):
    return src
from unittest import mock
mock.patch('sglang.srt.pool.Pool.move_gone', new=mine).start()
""",
    "patch-decorator": """
def mine(self, src, dst):
    return src
from unittest import mock
@mock.patch.object(Pool, 'move_gone', mine)
def go(): pass
""",
    "monkeypatch": """
def mine(self, src, dst):
    return src
def fx(monkeypatch):
    monkeypatch.setattr(Pool, 'move_gone', mine)
""",
    "type-setattr": """
def mine(self, src, dst):
    return src
type.__setattr__(Pool, 'move_gone', mine)
""",
    "helper-kwargs": """
def mine(self, src, dst):
    return src

def override(cls, **methods):
    for name, fn in methods.items():
        setattr(cls, name, fn)
override(Pool, move_gone=mine)
""",
    "helper-table": """
def mine(self, src, dst):
    return src

def override(cls, methods):
    for name, fn in methods.items():
        setattr(cls, name, fn)
override(Pool, {"move_gone": mine})
""",
    "helper-name": """
def mine(self, src, dst):
    return src

def override(cls, name, fn):
    setattr(cls, name, fn)
override(Pool, "move_gone", mine)
""",
    "loop-table": """
def mine(self, src, dst):
    return src

def other(self): pass
for name, fn in {"move_gone": mine, "extra": other}.items():
    setattr(Pool, name, fn)
""",
    "loop-pairs": """
def mine(self, src, dst):
    return src

def other(self): pass
for name, fn in [("extra", other), ("move_gone", mine)]:
    setattr(Pool, name, fn)
""",
    "loop-table-named": """
def mine(self, src, dst):
    return src

def other(self): pass
PATCHES = {"move_gone": mine, "extra": other}
def apply():
    for name, fn in PATCHES.items():
        setattr(Pool, name, fn)
""",
    "loop-functions": """
def move_gone(self, src, dst): return src
def extra(self): pass
for fn in (move_gone, extra):
    setattr(Pool, fn.__name__, fn)
""",
    "fn-name": """
def move_gone(self, src, dst): return src
setattr(Pool, move_gone.__name__, move_gone)
""",
    "decorator-patch": """
def patches(cls, name):
    def deco(fn):
        setattr(cls, name, fn)
        return fn
    return deco
@patches(Pool, "move_gone")
def mine(self, src, dst): return src
""",
    "decorator-fn-name": """
def patches(cls):
    def deco(fn):
        setattr(cls, fn.__name__, fn)
        return fn
    return deco
@patches(Pool)
def move_gone(self, src, dst): return src
""",
    "methodtype": """
def mine(self, src, dst):
    return src

import types
def go(pool: Pool):
    pool.move_gone = types.MethodType(mine, pool)
""",
    "get": """
def mine(self, src, dst):
    return src

def go(pool: Pool):
    pool.move_gone = mine.__get__(pool, Pool)
""",
    "partial-instance": """
def mine(self, src, dst):
    return src

import functools
def go(pool: Pool):
    pool.move_gone = functools.partial(mine, pool)
""",
    "bare-instance": """
def mine(src, dst): return src
def go(pool: Pool):
    pool.move_gone = mine
""",
    "staticmethod-patch": """
def plan(a, b): return a
Pool.plan_gone = staticmethod(plan)
""",
    "class-attr-staticmethod": """
def plan(a, b): return a
class Mine(Pool):
    plan_gone = staticmethod(plan)
""",
    "class-attr-fn": """
def mine(self, src, dst):
    return src

class Mine(Pool):
    move_gone = mine
""",
    "class-attr-wrapped": """
def timed(fn):
    def inner(self, src, dst):
        return fn(self, src, dst)
    return inner
class Mine(Pool):
    move_gone = timed(Pool.move_gone)
""",
    "class-attr-lambda": """
class Mine(Pool):
    move_gone = lambda self, src, dst: src
""",
    "override": """
class Mine(Pool):
    def move_gone(self, src, dst): return src
""",
    "override-counted": """
import functools
def counted(fn):
    @functools.wraps(fn)
    def inner(*args, **kwargs):
        return fn(*args, **kwargs)
    return inner
class Mine(Pool):
    @counted
    def move_gone(self, src, dst): return src
""",
    "override-counted-self": """
import functools
def counted(fn):
    @functools.wraps(fn)
    def inner(self, *args, **kwargs):
        print("x")
        out = fn(self, *args, **kwargs)
        return out
    return inner
class Mine(Pool):
    @counted
    def move_gone(self, src, dst): return src
""",
    "override-deco-args": """
import functools
def counted(name):
    def deco(fn):
        @functools.wraps(fn)
        def inner(*args, **kwargs):
            return fn(*args, **kwargs)
        return inner
    return deco
class Mine(Pool):
    @counted("x")
    def move_gone(self, src, dst): return src
""",
    "override-mark": """
def mark(fn):
    fn.ours = True
    return fn
class Mine(Pool):
    @mark
    def move_gone(self, src, dst): return src
""",
    "override-nvtx": """
import torch
class Mine(Pool):
    @torch.no_grad()
    def move_gone(self, src, dst): return src
""",
    "override-narrow": """
def narrow(fn):
    def inner(self, src, dst):
        return fn(self, src, dst)
    return inner
class Mine(Pool):
    @narrow
    def move_gone(self, *a): return a
""",
    "type-dict": """
old = Pool.__dict__["move_gone"]
def mine(self, src, dst):
    return src
Pool.move_gone = mine
""",
    "mixin-fn": """
def step(self, batch): return batch
Mixin.step_gone = step
""",
    "mixin-fn-sched": """
def step(self, batch): return batch
Sched.step_gone = step
""",
    "process-target": """
import multiprocessing as mp
def go(a):
    mp.Process(target=worker_gone, args=(a, 0)).start()
""",
    "process-target-kwargs": """
import threading
def go(a):
    threading.Thread(target=worker_gone, kwargs={"args": a, "rank": 1}).start()
""",
    "submit": """
def go(pool, a):
    pool.submit(worker_gone, a, 0)
""",
    "partial-call": """
import functools
f = functools.partial(worker_gone, rank=0)
def go(a):
    f(a)
""",
}
"""Way of putting it there → a plugin whose function takes what the first release passes."""

SILENT = {
    "class-attr-wrapped": """
def timed(fn):
    def inner(*args, **kwargs):
        return fn(*args, **kwargs)
    return inner
class Mine(Pool):
    move_gone = timed(Pool.move_gone)
""",
    "override-star": """
def counted(fn):
    def inner(*args, **kwargs):
        return fn(args[0], args[1], args[2])
    return inner
class Mine(Pool):
    @counted
    def move_gone(self, src, dst): return src
""",
    "override-drops": """
def lenient(fn):
    def inner(self, *args, **kwargs):
        kwargs.pop("stream", None)
        return fn(self, *args, **kwargs)
    return inner
class Mine(Pool):
    @lenient
    def move_gone(self, src, dst): return src
""",
    "override-foreign": """
from other import magic
class Mine(Pool):
    @magic
    def move_gone(self, src, dst): return src
""",
    "methodtype-ok": """
import types
def mine(self, src, dst, stream=None): return src
def go(pool: Pool):
    pool.move_gone = types.MethodType(mine, pool)
""",
    "helper-ok": """
def mine(self, src, dst, stream=None): return src
def override(cls, **methods):
    for name, fn in methods.items():
        setattr(cls, name, fn)
override(Pool, move_gone=mine)
""",
    "loop-ok": """
def mine(self, src, dst, stream=None): return src
def other(self): pass
for name, fn in {"move_gone": mine, "extra": other}.items():
    setattr(Pool, name, fn)
""",
    "multiple-ok": """
def mine(self, src, dst, **kw): return src
from unittest import mock
mock.patch.multiple(Pool, move_gone=mine).start()
""",
}
"""Near twins, whose function takes both, or of which nothing can be told."""


@pytest.mark.parametrize("way", TOLD)
def test_a_function_that_no_longer_fits_is_told_however_it_was_put_there(way, broken_by):
    found = broken_by(OLD, NEW, HEAD + TOLD[way])
    assert any(each.startswith("error") and "_gone" in each for each in found)


@pytest.mark.parametrize("way", SILENT)
def test_a_function_that_may_fit_is_no_reason_for_a_finding(way, trouble):
    assert trouble(OLD, NEW, HEAD + SILENT[way]) == []
