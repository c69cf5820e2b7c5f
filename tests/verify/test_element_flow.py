"""Ways in which an object of SGLang's is kept and read again: a removed field is told in each.

Each way is tried where the field goes, and stays silent where it stays.
"""

from __future__ import annotations

import pytest

_BATCH = """
    from dataclasses import dataclass
    from typing import List, Optional, Dict
    class Base:
        kind: int = 0
    class Req(Base):
        def __init__(self, rid: str, n: int = 0):
            self.rid = rid
            self.n = n
            self.gone = 1
    class Batch:
        def __init__(self, reqs: List[Req]):
            self.reqs = reqs
            self.by_rid: Dict[str, Req] = {}
            self.last: Optional[Req] = None
        def first(self) -> Req:
            return self.reqs[0]
"""
OLD = {"__init__.py": "", "srt/__init__.py": "", "srt/batch.py": _BATCH}
NEW = OLD | {"srt/batch.py": _BATCH.replace("            self.gone = 1\n", "")}
HEAD = "from sglang.srt.batch import Base, Batch, Req\n"

TOLD = {
    "list-append-index": """
def f(r: Req):
    xs = []
    xs.append(r)
    return xs[0].gone
""",
    "list-literal-loop": """
def f(a: Req, b: Req):
    for x in [a, b]:
        print(x.gone)
""",
    "list-self-append-loop": """
class Q:
    def __init__(self):
        self.waiting = []
    def add(self, r: Req):
        self.waiting.append(r)
    def run(self):
        for x in self.waiting:
            print(x.gone)
""",
    "list-annotated-empty": """
class Q:
    def __init__(self):
        self.waiting: list[Req] = []
    def run(self):
        return [x.gone for x in self.waiting]
""",
    "list-pop": """
class Q:
    def __init__(self):
        self.waiting = []
    def add(self, r: Req):
        self.waiting.append(r)
    def run(self):
        x = self.waiting.pop()
        return x.gone
""",
    "list-extend": """
def f(b: Batch):
    xs = []
    xs.extend(b.reqs)
    return sum(x.gone for x in xs)
""",
    "list-insert-slice": """
def f(r: Req):
    xs = []
    xs.insert(0, r)
    for x in xs[1:]:
        print(x.gone)
""",
    "list-plus": """
def f(r: Req, b: Batch):
    xs = [r] + b.reqs
    return max(x.gone for x in xs)
""",
    "list-iadd": """
def f(r: Req):
    xs = []
    xs += [r]
    return xs[-1].gone
""",
    "dict-setitem": """
class Q:
    def __init__(self):
        self.by = {}
    def add(self, r: Req):
        self.by[r.rid] = r
    def run(self, rid):
        return self.by[rid].gone
""",
    "dict-get": """
class Q:
    def __init__(self):
        self.by = {}
    def add(self, r: Req):
        self.by[r.rid] = r
    def run(self, rid):
        x = self.by.get(rid)
        if x is None:
            return None
        return x.gone
""",
    "dict-pop": """
class Q:
    def __init__(self):
        self.by = {}
    def add(self, r: Req):
        self.by[r.rid] = r
    def run(self, rid):
        return self.by.pop(rid, None).gone
""",
    "dict-items": """
class Q:
    def __init__(self):
        self.by = {}
    def add(self, r: Req):
        self.by[r.rid] = r
    def run(self):
        for k, x in self.by.items():
            print(k, x.gone)
""",
    "dict-values": """
def f(b: Batch):
    by = {x.rid: x for x in b.reqs}
    for x in by.values():
        print(x.gone)
""",
    "dict-setdefault": """
from collections import defaultdict
class Q:
    def __init__(self):
        self.groups = defaultdict(list)
    def add(self, r: Req):
        self.groups[r.n].append(r)
    def run(self):
        for group in self.groups.values():
            for x in group:
                print(x.gone)
""",
    "dict-setdefault-append": """
def f(b: Batch):
    groups = {}
    for r in b.reqs:
        groups.setdefault(r.n, []).append(r)
    return [x.gone for g in groups.values() for x in g]
""",
    "deque": """
from collections import deque
class Q:
    def __init__(self):
        self.q = deque()
    def add(self, r: Req):
        self.q.append(r)
    def run(self):
        while self.q:
            x = self.q.popleft()
            print(x.gone)
""",
    "queue": """
import queue
class Q:
    def __init__(self):
        self.q = queue.Queue()
    def add(self, r: Req):
        self.q.put(r)
    def run(self):
        x = self.q.get()
        print(x.gone)
""",
    "queue-nowait": """
import asyncio
class Q:
    def __init__(self):
        self.q = asyncio.Queue()
    def add(self, r: Req):
        self.q.put_nowait(r)
    async def run(self):
        x = await self.q.get()
        print(x.gone)
""",
    "queue-typed": """
from queue import Queue
class Q:
    def __init__(self):
        self.q: "Queue[Req]" = Queue()
    def run(self):
        print(self.q.get().gone)
""",
    "heap": """
import heapq
class Q:
    def __init__(self):
        self.h = []
    def add(self, r: Req):
        heapq.heappush(self.h, (r.n, r))
    def run(self):
        n, x = heapq.heappop(self.h)
        print(x.gone)
""",
    "set-add": """
def f(b: Batch):
    seen = set()
    for r in b.reqs:
        seen.add(r)
    for x in seen:
        print(x.gone)
""",
    "star-args": """
def f(*reqs: Req):
    for x in reqs:
        print(x.gone)
""",
    "star-kwargs": """
def f(**by: Req):
    for k, x in by.items():
        print(x.gone)
""",
    "typeddict": """
from typing import TypedDict
class Entry(TypedDict):
    req: Req
    n: int
def f(e: Entry):
    return e["req"].gone
""",
    "namedtuple": """
from typing import NamedTuple
class Entry(NamedTuple):
    req: Req
    n: int
def f(e: Entry):
    r, n = e
    return r.gone
""",
    "dataclass": """
from dataclasses import dataclass
@dataclass
class Entry:
    req: Req
    n: int
def f(r: Req):
    e = Entry(r, 1)
    return e.req.gone
""",
    "module-global": """
_CURRENT = None
def set_current(r: Req):
    global _CURRENT
    _CURRENT = r
def f():
    return _CURRENT.gone
""",
    "module-global-list": """
_ALL = []
def add(r: Req):
    _ALL.append(r)
def f():
    for x in _ALL:
        print(x.gone)
""",
    "class-pattern": """
def f(x):
    match x:
        case Req():
            return x.gone
""",
    "class-pattern-as": """
def f(x):
    match x:
        case Req() as r:
            return r.gone
        case _:
            return None
""",
    "class-pattern-kw": """
def f(x):
    match x:
        case Req(gone=g):
            return g
""",
    "walrus-isinstance": """
def f(ctx):
    if isinstance(x := ctx.current(), Req):
        return x.gone
""",
    "issubclass-type": """
def f(x):
    if issubclass(type(x), Req):
        return x.gone
""",
    "type-is": """
def f(x):
    if type(x) is Req:
        return x.gone
""",
    "enumerate-zip": """
def f(b: Batch, c: Batch):
    for i, (x, y) in enumerate(zip(b.reqs, c.reqs)):
        print(i, y.gone)
""",
    "sorted-lambda": """
def f(b: Batch):
    return sorted(b.reqs, key=lambda x: x.gone)
""",
    "map-lambda": """
def f(b: Batch):
    return list(map(lambda x: x.gone, b.reqs))
""",
    "filter-next": """
def f(b: Batch):
    x = next(filter(lambda y: y.n, b.reqs))
    return x.gone
""",
    "attrgetter": """
from operator import attrgetter
def f(b: Batch):
    return sorted(b.reqs, key=attrgetter("gone"))
""",
    "nested-tuple": """
def f(b: Batch):
    pairs = [(x, i) for i, x in enumerate(b.reqs)]
    for x, i in pairs:
        print(x.gone)
""",
    "generator": """
def gen(b: Batch):
    for x in b.reqs:
        yield x
def f(b: Batch):
    for x in gen(b):
        print(x.gone)
""",
    "alias": """
class Q:
    def __init__(self):
        self._buf = []
    def add(self, r: Req):
        buf = self._buf
        buf.append(r)
    def run(self):
        return self._buf[0].gone
""",
    "class-level-list": """
class Q:
    waiting = []
    @classmethod
    def add(cls, r: Req):
        cls.waiting.append(r)
    def run(self):
        return [x.gone for x in self.waiting]
""",
    "dataclass-field": """
from dataclasses import dataclass, field
@dataclass
class Q:
    waiting: list = field(default_factory=list)
    def add(self, r: Req):
        self.waiting.append(r)
    def run(self):
        return [x.gone for x in self.waiting]
""",
    "tuple-in-list": """
class Q:
    def __init__(self):
        self.pairs = []
    def add(self, r: Req, t: float):
        self.pairs.append((t, r))
    def run(self):
        for t, x in self.pairs:
            print(x.gone)
        t, y = self.pairs[0]
        return y.n
""",
    "dict-of-dict": """
class Q:
    def __init__(self):
        self.by = {}
    def add(self, r: Req):
        self.by[r.rid] = {"req": r}
    def run(self, rid):
        return self.by[rid]["req"].gone
""",
    "own-wrapper-in-list": """
class Slot:
    def __init__(self, req: Req):
        self.req = req
class Q:
    def __init__(self):
        self.slots = []
    def add(self, r: Req):
        self.slots.append(Slot(r))
    def run(self):
        for s in self.slots:
            print(s.req.gone)
""",
    "walk-while": """
def f(b: Batch):
    stack = list(b.reqs)
    while stack:
        x = stack.pop()
        print(x.gone)
""",
    "del-requeue": """
class Q:
    def __init__(self):
        self.q = []
    def add(self, r: Req):
        self.q.append(r)
    def rotate(self):
        self.q.append(self.q.pop(0))
        x = self.q.pop(0)
        self.q.append(x)
    def run(self):
        return self.q[0].gone
""",
    "list-copy": """
def f(r: Req):
    xs = []
    xs.append(r)
    for x in list(xs):
        print(x.gone)
    for x in xs.copy():
        print(x.n)
""",
    "partition": """
def f(b: Batch):
    yes, no = [], []
    for r in b.reqs:
        (yes if r.n else no).append(r)
        if r.n > 1:
            yes.append(r)
    for x in yes:
        print(x.gone)
""",
    "nested-func-append": """
def f(b: Batch):
    xs = []
    def visit(r: Req):
        xs.append(r)
    for r in b.reqs:
        visit(r)
    return [x.gone for x in xs]
""",
    "chain": """
from itertools import chain
def f(b: Batch, c: Batch):
    for x in chain(b.reqs, c.reqs):
        print(x.gone)
""",
    "islice": """
from itertools import islice
def f(b: Batch):
    for x in islice(b.reqs, 3):
        print(x.gone)
""",
    "groupby": """
from itertools import groupby
def f(b: Batch):
    for n, group in groupby(b.reqs, key=lambda r: r.n):
        for x in group:
            print(x.gone)
""",
    "star-unpack-list": """
def f(b: Batch, r: Req):
    for x in [*b.reqs, r]:
        print(x.gone)
""",
    "dict-merge": """
def f(a: dict[str, Req], b: dict[str, Req]):
    for x in {**a, **b}.values():
        print(x.gone)
""",
    "or-default": """
def f(b: Batch):
    for x in b.reqs or []:
        print(x.gone)
""",
    "contextvar": """
from contextvars import ContextVar
CUR: ContextVar[Req] = ContextVar("cur")
def f():
    return CUR.get().gone
""",
    "contextvar-set": """
from contextvars import ContextVar
CUR = ContextVar("cur", default=None)
def s(r: Req):
    CUR.set(r)
def f():
    return CUR.get().gone
""",
    "class-attr-set-elsewhere": """
class State:
    current = None
def s(r: Req):
    State.current = r
def f():
    return State.current.gone
""",
    "future-result": """
import asyncio
async def fetch(b: Batch) -> Req:
    return b.reqs[0]
async def f(b: Batch):
    x, y = await asyncio.gather(fetch(b), fetch(b))
    return x.gone
""",
    "create-task": """
import asyncio
async def fetch(b: Batch) -> Req:
    return b.reqs[0]
async def f(b: Batch):
    t = asyncio.create_task(fetch(b))
    x = await t
    return x.gone
""",
    "executor-result": """
def fetch(b: Batch) -> Req:
    return b.reqs[0]
def f(pool, b: Batch):
    fut = pool.submit(fetch, b)
    return fut.result().gone
""",
    "min-key": """
def f(b: Batch):
    return min(b.reqs, key=lambda x: x.n).gone
""",
    "typed-alias": """
Reqs = list[Req]
def f(xs: Reqs):
    return xs[0].gone
""",
    "newtype": """
from typing import NewType
MyReq = NewType("MyReq", Req)
def f(x: MyReq):
    return x.gone
""",
    "subclass-narrow-tuple": """
def f(x):
    if not isinstance(x, (Req,)):
        return None
    return x.gone
""",
    "assert-isinstance": """
def f(x):
    assert isinstance(x, Req)
    return x.gone
""",
    "property-own": """
class A:
    def __init__(self, r: Req):
        self._r = r
    @property
    def req(self):
        return self._r
    def f(self):
        return self.req.gone
""",
    "global-list-rebind": """
_ALL = []
def reset(b: Batch):
    global _ALL
    _ALL = list(b.reqs)
def f():
    return _ALL[0].gone
""",
    "global-dict": """
_BY = {}
def put(r: Req):
    _BY[r.rid] = r
def f(rid):
    if rid in _BY:
        return _BY[rid].gone
""",
    "list-index-in-comp": """
def f(b: Batch, idx):
    return [b.reqs[i].gone for i in idx]
""",
    "reversed-enumerate": """
def f(b: Batch):
    for i, x in reversed(list(enumerate(b.reqs))):
        print(x.gone)
""",
    "cast": """
from typing import cast
def f(x):
    return cast("Req", x).gone
""",
    "setdefault-return": """
class Q:
    def __init__(self):
        self.by = {}
    def get(self, r: Req):
        x = self.by.setdefault(r.rid, r)
        return x.gone
""",
}
"""Way of keeping → a plugin that reads ``gone`` of what it kept."""

SILENT = {
    "own-class": """
class Own:
    gone = 1
class Q:
    def __init__(self):
        self.q = []
    def add(self, o: Own):
        self.q.append(o)
    def run(self):
        return [x.gone for x in self.q]
""",
    "mixed-own": """
class Own:
    gone = 1
class Q:
    def __init__(self):
        self.q = []
    def add(self, o: Own):
        self.q.append(o)
    def add2(self, r: Req):
        self.q.append(r)
    def run(self):
        return [x.gone for x in self.q if isinstance(x, Own)]
""",
    "unknown-put": """
def f(r: Req, other):
    xs = []
    xs.append(other)
    return xs[0].gone
""",
    "other-list": """
class Q:
    def __init__(self):
        self.q = []
        self.p = []
    def add(self, r: Req, o):
        self.q.append(r)
        self.p.append(o)
    def run(self):
        return [x.gone for x in self.p]
""",
    "global-flag": """
_HAS = None
def init():
    global _HAS
    _HAS = hasattr(Req("a"), "gone")
def f(r: Req):
    if _HAS:
        return r.gone
""",
    "global-lazy": """
_FN = None
def get():
    global _FN
    if _FN is None:
        _FN = lambda r: r
    return _FN
def f(r: Req):
    return get()(r).n
""",
}
"""Near twins, in which what is read is of another class, or of none that is known."""


@pytest.mark.parametrize("way", TOLD)
def test_a_removed_field_is_told_however_the_object_was_kept(way, broken_by):
    found = broken_by(OLD, NEW, HEAD + TOLD[way])
    assert any(each.startswith("error") and "Req.gone:" in each for each in found)


@pytest.mark.parametrize("way", SILENT)
def test_an_object_of_another_class_is_no_reason_for_a_finding(way, trouble):
    assert trouble(OLD, NEW, HEAD + SILENT[way]) == []
