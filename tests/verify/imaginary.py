# ruff: noqa: E501 - a fixture is easier to read in one line
"""Two neighbouring releases of an imaginary sglang, and uses that break and that do not.

The releases differ in one thing a rule. ``FIXTURES`` maps a rule to plugins that must fire it (it
and no other) and plugins that must stay silent in both releases.
"""

from __future__ import annotations

from typing import NamedTuple

BASE = """
import argparse
import dataclasses
import enum
from abc import ABC, abstractmethod
from typing import List, Optional, Tuple
"""

OLD: dict[str, str] = {
    "__init__.py": "__version__ = '0.5.1'\n",
    "srt/gone.py": "def helper():\n    return 1\n",
    "srt/names.py": BASE
    + """
def dropped(): return 1
def stays(): return 1
class Mover:
    def go(self): return 1
""",
    "srt/batch.py": BASE
    + """
@dataclasses.dataclass
class Batch:
    kept: int
    lost_field: int
    old_total_tokens: Optional[List[int]] = None
    after: int = 0

    def kept_method(self): return 1
    def lost_method(self): return 1
    def before_rename(self, rows, columns): return rows

class Sub(Batch):
    pass

class Bag:
    def fill(self, rows, extra=None): return rows

class Phase(enum.Enum):
    ONE = 1
    TWO = 2
    LEFT = 3
""",
    "srt/calls.py": BASE
    + """
class Window:
    rows: "torch.Tensor"
    parts: "List[torch.Tensor]"
    names: "Optional[str]"
    held: "torch.Tensor"
    table: "List[int]"
    details: "Dict[str, int]"
    two: "torch.Tensor | Tuple[torch.Tensor, torch.Tensor]"
    limit: int = 1
    @property
    def tail(self) -> List[int]: return [1]
    def anchor(self) -> "Optional[str]": return self.names
class Params:
    num: int = 0
class Filled:
    size: int = 1
    chart: "Dict[str, int]"
    def grow(self): return self.size
class Crate:
    load: List[int]
class Label:
    text: Optional[str] = None
class Marker:
    def __init__(self, pattern: bool): self.pattern = pattern
def fewer(a, b=1, extra=None): return a
def renamed(a, group_size=1): return a
def needs(a): return a
def named(a, flag=False): return a
def pair(a): return (a, a)
def typed(count: int): return count
def retiring(): return 1
def same(a, b=1): return a
def put(rows, mask=None): return rows
def free(index: int, pool_rows: Params, keep: bool = True): return index
def grow(rows, flash_mask: str = ''): return rows
def sorts(rows) -> bool: return True
def keeps(rows) -> bool: return True
def digest(rows) -> int: return 1
def gather(rows) -> List[int]: return rows
def halves(rows) -> Optional[Tuple["torch.Tensor", int]]: return rows
def start(size: int, backend: Optional[str] = None): return size
def waits(a) -> int: return a
async def hurries(a) -> int: return a
def inner(a) -> Tuple[Tuple[int, int], str]: return ((a, a), '')
""",
    "srt/pool.py": BASE
    + """
class Pool:
    def copy(self, rows): return rows
    def put(self, layer, loc): return loc
    def old_hook(self): raise NotImplementedError()
    def plain(self): return 1
class Linker(ABC):
    @abstractmethod
    def load(self): ...
class Spec:
    def draft(self): return 1
""",
    "srt/core.py": BASE
    + """
from sglang.srt.pool import Pool
class Core:
    def __init__(self, pool: Pool, spec):
        self.pool = pool
        self.spec = spec
    def run(self):
        self.pool.copy([1])
        self.pool.old_hook()
        self.pool.plain()
        return self.spec.draft()
""",
    "srt/gate.py": """
class Gate:
    def pass_on(self, rows, mask): return rows
def go(gate): return gate.pass_on(1, 2)
""",
    "srt/loop.py": BASE
    + """
class Loop:
    def run(self): return self.round()
    def round(self): return self.turn(1)
    def turn(self, row): return row
class Rack:
    def hang(self, row): return row
class Side(Rack):
    def go(self): return self.hang(1)
class Hook:
    def tie(self, row): return row
class Middle(Hook):
    def tie(self, row, deep=False): return row
class Low(Middle):
    def go(self): return self.tie(1)
class ShelfBase:
    def stand(self): return 1
class WideShelf(ShelfBase):
    def reach(self): return 1
class TallShelf(ShelfBase):
    def reach(self): return 1
class Crate:
    def lift(self): return 1
class Bin:
    def reach(self): return 1
class Depot:
    def __init__(self, wide):
        self.shelf = Bin()
row_index = None
class RowIndex:
    def lookup(self, rows, deep): return rows
    def gone(self): return 1
class Store:
    def lookup(self, rows): return rows
def search(row_index, store):
    row_index.lookup([1], True)
    store.lookup([1])
""",
    "srt/stats.py": BASE
    + """
class Stats:
    def mark(self): return 1
class Sealed:
    data: bytes = b''
@dataclasses.dataclass
class Item:
    stats: Optional[Stats] = None
def make(a): return a
def counted(a) -> Tuple[int, int, int]: return make(a)
def shorter(a) -> Tuple[int, int, int]: return make(a)
class Way(enum.Enum):
    FIRST = 1
""",
    "srt/target.py": "class Runner:\n    def step(self): return 1\n    def other(self): return 1\n",
    "srt/tables.py": "TABLE = {'alpha': 1, 'beta': 2}\n",
    "srt/meaning.py": "def shifted(rows): return rows\ndef steady(rows): return rows\n",
    "srt/environ.py": """
class EnvBool:
    def __init__(self, default): self.default = default
    def get(self): return self.default
class Envs:
    SGLANG_QUICK = EnvBool(False)
    SGLANG_STEADY = EnvBool(False)
envs = Envs()
""",
    "srt/settings.py": "import os\nA = os.environ.get('SGLANG_OLD_SWITCH')\nB = os.environ.get('SGLANG_KEPT')\n",
    "srt/server_args.py": BASE
    + """
@dataclasses.dataclass
class ServerArgs:
    model_path: str
    lost_arg: int = 0
    tp_size: int = 1

    @staticmethod
    def add_cli_args(parser):
        parser.add_argument('--model-path')
        parser.add_argument('--lost-arg', type=int)
        parser.add_argument('--tp-size', type=int)
        parser.add_argument('--policy', choices=['fcfs', 'lof'])
""",
    "launch_server.py": "from sglang.srt.server_args import ServerArgs\n",
    "srt/engine.py": """
from sglang.srt.server_args import ServerArgs
class Engine:
    def __init__(self, **kwargs):
        self.server_args = ServerArgs(**kwargs)
    def push(self, name): return name
""",
    "srt/api.py": """
def Engine(*args, **kwargs):
    from sglang.srt.engine import Engine

    return Engine(*args, **kwargs)
""",
    "srt/stepper.py": """
class Stepper:
    def __init__(self): self.begin(1)
    def begin(self, memory): return memory
    def advance(self): return 1
    def go(self): return self.advance()
""",
    "srt/stranger.py": """
class Stranger:
    def advance(self): return 2
    def go(self, inner): return (self.advance(), inner.advance())
""",
    "srt/answers.py": """
import dataclasses
from typing import Tuple
@dataclasses.dataclass
class Answer:
    success: bool
async def ask(x) -> Answer: return Answer(True)
""",
    "srt/loops.py": """
class Loop:
    def turn(self): return 1
    async def stop(self): return 1
    def move(self, rows, mask=None): return rows
async def run(loop):
    loop.turn()
    await loop.stop()
    loop.move(1, 2)
""",
    "srt/filled.py": """
THINGS = {}
def register_thing(name):
    def keep(f):
        THINGS[name] = f
        return f
    return keep
@register_thing('alpha')
def alpha(): return 1
@register_thing('beta')
def beta(): return 1
""",
}

NEW: dict[str, str] = {
    **OLD,
    "__init__.py": "__version__ = '0.5.2'\n",
    "srt/names.py": BASE + "def stays(): return 1\n",
    "srt/moved.py": "class Mover:\n    def go(self): return 1\n",
    "srt/batch.py": BASE
    + """
@dataclasses.dataclass
class Batch:
    kept: int
    new_total_tokens: Optional[List[int]] = None
    after: int = 0

    def kept_method(self): return 1
    def after_rename(self, rows, columns): return rows

class Sub(Batch):
    pass

class Bag:
    def fill(self, rows): return rows

class Phase(enum.Enum):
    ONE = 1
    TWO = 2
""",
    "srt/calls.py": BASE
    + """
class Held:
    tensor: "torch.Tensor"
class Window:
    rows: "List[torch.Tensor]"
    parts: "List[Optional[str]]"
    names: "str | List[str]"
    held: "Held"
    table: "Optional[Dict[str, int]]"
    details: "Held"
    two: "torch.Tensor"
    limit: Optional[int] = None
    @property
    def tail(self) -> "array[int]": return self.rows
    def anchor(self) -> "tuple[str, str]": return (self.names, self.names)
class Params:
    num: int = 0
class Filled:
    size: Optional[int] = None
    def __init__(self):
        self.chart = {'a': 1}
    def grow(self):
        if self.size is None:
            self.size = 1
        return self.size
class Box:
    value: int = 0
class Crate:
    load: Optional[Box] = None
    def unwrap_fields(self): self.load = self.load.value
class Label:
    text: Optional[str] = None
class Marker:
    def __init__(self, pattern: Optional[str]): self.pattern = pattern
def fewer(a, b=1): return a
def renamed(a, group_rows=1): return a
def needs(a, mode): return a
def named(a, *, flag=False): return a
def pair(a): return (a, a, a)
def typed(count: Params): return count
def retiring():
    raise RuntimeError('retiring() is gone: use calls.same() instead')
def same(a, b=1, c=None): return a
def put(rows, phase=None, mask=None): return rows
def free(index: int, keep: bool = True): return index
def grow(rows, attn_mask: str = ''): return rows
def sorts(rows) -> None: return None
def keeps(rows) -> bool: return True
def digest(rows) -> Tuple[int, int]: return (1, 1)
def gather(rows) -> None: return None
def halves(rows) -> Optional[Tuple[int, int]]: return rows
def start(size: int, ranks: Optional[int] = 1, backend: Optional[str] = None): return size
async def waits(a) -> int: return a
def hurries(a) -> int: return a
def inner(a) -> Tuple[Tuple[int, int, int], str]: return ((a, a, a), '')
""",
    "srt/pool.py": BASE
    + """
class Pool:
    def copy(self, rows, mask=None): return rows
    def put(self, layer, loc): return loc
    def new_hook(self, phase): raise NotImplementedError()
    def plain(self, kept=0): return 1
class Linker(ABC):
    @abstractmethod
    def load(self): ...
    @abstractmethod
    def finish(self, index): ...
class Spec:
    def draft(self): return 1
""",
    "srt/core.py": BASE
    + """
from sglang.srt.pool import Pool
class Core:
    def __init__(self, pool: Pool, spec):
        self.pool = pool
        self.spec = spec
    def run(self):
        self.pool.copy([1], mask=None)
        self.pool.new_hook(1)
        self.pool.plain()
        self.spec.future_map(1)
        return self.spec.draft()
""",
    "srt/gate.py": """
class Gate:
    def pass_on(self, rows, mask): return rows
def go(gate): return gate.pass_on(1, mask=2)
""",
    "srt/loop.py": BASE
    + """
class Loop:
    def run(self): return self.round()
    def round(self): return self.turn(1, deep=True)
    def turn(self, row, deep=False): return row
class Rack:
    def hang(self, row, deep=False): return row
class Side(Rack):
    def go(self): return self.hang(1, True)
class Hook:
    def tie(self, row, deep=False): return row
class Middle(Hook):
    def tie(self, row, deep=False): return row
class Low(Middle):
    def go(self): return self.tie(1, True)
class ShelfBase:
    def stand(self): return 1
class WideShelf(ShelfBase):
    def wide(self): return 1
class TallShelf(ShelfBase):
    def reach(self): return 1
class Crate:
    def lift(self): return 1
class Bin:
    def reach(self): return 1
class Depot:
    def __init__(self, wide):
        if wide:
            self.shelf = Crate()
        else:
            self.shelf = Bin()
row_index = None
class RowIndex:
    def lookup(self, rows, deep): return rows
class Store:
    def lookup(self, rows, deep=False): return rows
def search(row_index, store):
    row_index.lookup([1], True)
    store.lookup([1])
""",
    "srt/stats.py": BASE
    + """
class Stats:
    def mark(self): return 1
class Sealed:
    data: bytes = b''
@dataclasses.dataclass
class Item:
    stats: Optional[Sealed] = None
def make(a): return a
def counted(a) -> Tuple[int, int]: return make(a)
def shorter(a) -> Tuple[int, int]: return make(a)
def total():
    one, two, three = counted(1)
    return one
class Way:
    @classmethod
    def register(cls, name): setattr(cls, name, cls())
def register_way(name): Way.register(name)
register_way("FIRST")
""",
    "srt/test_pool.py": "def test_plain(pool):\n    pool.plain(kept=1)\n",
    "srt/target.py": "class Runner:\n    def other(self): return 1\n",
    "srt/tables.py": "TABLE = {'alpha': 1, 'gamma': 3}\n",
    "srt/settings.py": "import os\nB = os.environ.get('SGLANG_KEPT')\n",
    "srt/server_args.py": BASE
    + """
@dataclasses.dataclass
class ServerArgs:
    model_path: str
    tp_size: int = 1

    @staticmethod
    def add_cli_args(parser):
        parser.add_argument('--model-path')
        parser.add_argument('--tp-size', type=int)
        parser.add_argument('--policy', choices=['fcfs'])
""",
}
del NEW["srt/gone.py"]
NEW["srt/engine.py"] = NEW["srt/engine.py"].replace("(self, name)", "(self, names)")
NEW["srt/stepper.py"] = (
    NEW["srt/stepper.py"]
    .replace("self.begin(1)", "self.begin()", 1)
    .replace("begin(self, memory): return memory", "begin(self): return 1")
    .replace("advance(self): return 1", "advance_all(self): return 1")
    .replace("go(self): return self.advance()", "go(self): return self.advance_all()")
)
NEW["srt/answers.py"] = NEW["srt/answers.py"].replace(
    "-> Answer: return Answer(True)", "-> Tuple[bool, str]: return (True, '')"
)
NEW["srt/loops.py"] = """
class Loop:
    async def turn(self): return 1
    def stop(self): return 1
    def move(self, rows, phase=None, mask=None): return rows
async def run(loop):
    await loop.turn()
    loop.stop()
    loop.move(1, 2)
"""
NEW["srt/environ.py"] = NEW["srt/environ.py"].replace(
    "QUICK = EnvBool(False)", "QUICK = EnvBool(True)"
)
NEW["srt/filled.py"] = NEW["srt/filled.py"].partition("@register_thing('beta')")[0]

CONTRACTS = {
    "meaning": """
[contract]
id = "meaning"
title = "What rows are"
target = "sglang.srt.meaning"
provider = "sglang"
sglang = ">=0.5.1"
consumer = "backend"

[[behaviours]]
id = "rows-are-new"
sglang = ">=0.5.2"
was = "a list"
now = "a record"
use = "shifted(Rows(rows))"
severity = "error"
[behaviours.on]
symbol = "sglang.srt.meaning:shifted"
role = "caller"
argument = "rows"
position = 0
unless_type = ["Rows"]
unless_mentions = ["Rows"]
""",
    "written": """
[contract]
id = "written"
title = "Where rows are written"
target = "sglang.srt.pool:Pool"
provider = "sglang"
sglang = ">=0.5.1"
consumer = "backend"

[[behaviours]]
id = "loc-is-a-record"
sglang = ">=0.5.2"
was = "loc is a tensor"
now = "loc is a record"
use = "loc.rows"
severity = "error"
[behaviours.on]
symbol = "sglang.srt.pool:Pool.put"
role = "overrider"
argument = "loc"
position = 1
unless_mentions = ["Record"]
""",
    "lifted": """
[contract]
id = "lifted"
title = "What a crate gives"
target = "sglang.srt.loop:Crate"
provider = "sglang"
sglang = ">=0.5.1"
consumer = "backend"

[[behaviours]]
id = "lift-gives-a-record"
sglang = ">=0.5.2"
was = "returns a number"
now = "must return a record"
use = "Record(number)"
severity = "error"
[behaviours.on]
symbol = "sglang.srt.loop:Crate.lift"
role = "overrider"
unless_mentions = ["Record"]
""",
    "spec": """
[contract]
id = "spec"
title = "What a speculative algorithm provides"
target = "sglang.srt.pool:Spec"
provider = "backend"
sglang = ">=0.5.1"
consumer = "sglang"

[[obligations]]
name = "future_map"
receivers = ["spec"]
called = true
sglang = ">=0.5.2"
""",
}


class Fixture(NamedTuple):
    """Plugins for one rule."""

    fires: tuple[str, ...]
    silent: tuple[str, ...]


def at(name: str, text: str) -> str:
    """A file's text, with its import of one upstream name in front."""
    module, _, symbol = name.partition(":")
    return f"from sglang.srt.{module} import {symbol}\n{text}\n"


LISTED = (
    ("", "'lost_field' in dir(b)"),
    ("", "'lost_field' in vars(b)"),
    ("", "'lost_field' in b.__dict__"),
    ("", "'lost_field' in Batch.__dataclass_fields__"),
    (
        "import dataclasses\nNAMES = {f.name for f in dataclasses.fields(Batch)}",
        "'lost_field' in NAMES",
    ),
    (
        "import dataclasses\nHAS = 'lost_field' in [f.name for f in dataclasses.fields(Batch)]",
        "HAS",
    ),
    ("", "all(hasattr(b, name) for name in ('kept', 'lost_field'))"),
    ("", "any(hasattr(b, name) for name in ('never', 'lost_field'))"),
    ("def has(thing, name):\n    return hasattr(thing, name)", "has(b, 'lost_field')"),
    (
        "def has(thing):\n    if hasattr(thing, 'lost_field'):\n        return True\n"
        "    return False",
        "has(b)",
    ),
    ("HAS = {'lost': hasattr(Batch, 'lost_field')}", "HAS['lost']"),
    ("class Own(Batch):\n    lost_field = 1", "type(b) is Own"),
)
"""Ways to ask whether a name is listed: what stands before, and the question."""

_PUT = "    def put(self, layer, loc):\n"
_TURN = "    def turn(self, row): return row\n"
_POOL = "    def copy(self, rows, mask=None): return rows\n"

FIXTURES: dict[str, Fixture] = {
    "module-removed": Fixture(
        (
            "import sglang.srt.gone\n",
            "def f():\n    import sglang.srt.gone as g\n    return g\n",
            "import importlib\nimportlib.import_module('sglang.srt.gone')\n",
        ),
        (
            "try:\n    import sglang.srt.gone as m\nexcept ImportError:\n    import sglang.srt.names as m\n",
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import sglang.srt.gone\n",
            "import sglang.srt\n",
            "import importlib\nPLACES = ('sglang.srt.gone', 'sglang.srt.names')\n\n\ndef f():\n"
            "    for place in PLACES:\n        try:\n"
            "            return importlib.import_module(place)\n        except ImportError:\n"
            "            continue\n    raise RuntimeError('neither')\n",
            "from sglang.srt import names\n",
            "from importlib.util import find_spec\n"
            "if find_spec('sglang.srt.gone') is None:\n    import sglang.srt.names as m\n"
            "else:\n    import sglang.srt.gone as m\n",
        ),
    ),
    "symbol-removed": Fixture(
        (
            at("names:dropped", "dropped()"),
            "import sglang.srt.names as n\ndef take(m, name):\n    return getattr(m, name)\n\n\n"
            "f = take(n, 'dropped')\n",
            "from sglang.srt import names\nx = names.dropped\n",
            "import sglang.srt.names as n\nn.dropped()\n",
            "try:\n    from sglang.srt.names import dropped\nexcept ImportError:\n    pass\n",
        ),
        (
            at("names:stays", "stays()"),
            "import sglang.srt.names as n\nif hasattr(n, 'dropped'):\n    n.dropped()\nelse:\n    n.stays()\n",
            "import sglang.srt.names as n\nx = getattr(n, 'dropped', n.stays)\n",
            "import sglang.srt.names as n\ndef take(m, name):\n    return getattr(m, name, None)\n\n\n"
            "f = take(n, 'dropped') or n.stays\n",
            "try:\n    from sglang.srt.names import dropped\nexcept ImportError:\n    dropped = None\n\n\n"
            "def f(x):\n    if dropped is not None:\n        return dropped(x)\n    return x + 1\n",
            "from sglang.srt.names import *\nstays()\n",
            "import sglang.srt.names as n\nn.never_was\n",
        ),
    ),
    "symbol-moved": Fixture(
        (at("names:Mover", "Mover()"), "def f():\n    from sglang.srt.names import Mover\n"),
        (
            "try:\n    from sglang.srt.moved import Mover\nexcept ImportError:\n"
            "    from sglang.srt.names import Mover\n\n\ndef f(x: Mover):\n    return x.go()\n",
        ),
    ),
    "field-removed": Fixture(
        (
            at("batch:Batch", "def f(b: Batch):\n    return b.lost_field"),
            at("batch:Batch", "def f(b: 'Batch | None'):\n    return b.lost_field"),
            *(
                at("batch:Batch", f"from typing import Dict, List, Union\n{each}")
                for each in (
                    "def f(bs: Dict[str, Batch]):\n    return [b.lost_field for b in bs.values()]",
                    "def f(bs: List[Batch]):\n    first, *rest = bs\n    return first.lost_field",
                    "def f(bs: List[Batch]):\n    *most, last = bs\n    return [b.lost_field for b in most]",
                    "def f(x):\n    match x:\n        case Batch() as b:\n            return b.lost_field",
                    "def f(x):\n    match x:\n        case Batch():\n            return x.lost_field",
                    "from typing import TypeVar\nB = TypeVar('B', bound=Batch)\ndef f(b: B):\n    return b.lost_field",
                    "def f(bs: Dict[str, Batch]):\n    for k, b in bs.items():\n        b.lost_field",
                    "def f(bs: Dict[str, Batch]):\n    b = bs.get('a')\n"
                    "    return 0 if b is None else b.lost_field",
                    "def f(bs: List[Batch]):\n    return max(bs, key=lambda b: b.lost_field)",
                    "def f(bs: List[Batch]):\n    bs.sort(key=lambda b: b.lost_field)",
                    "class Other: pass\ndef f(b: Union[Batch, Other]):\n"
                    "    if isinstance(b, Other):\n        return 0\n    return b.lost_field",
                    "class Mixin:\n    def f(self: Batch):\n        return self.lost_field",
                    "class Own:\n    b: Batch\n    def __init__(self, b):\n        self.b = b\n"
                    "    def f(self):\n        return self.b.lost_field",
                    "def f(x):\n    b: Batch = x\n    return b.lost_field",
                )
            ),
            at(
                "batch:Sub",
                "class A:\n    def __init__(self, b: Sub):\n        self.b = b\n"
                "    def f(self):\n        return self.b.lost_field",
            ),
            at(
                "batch:Batch", "def f(b):\n    assert isinstance(b, Batch)\n    return b.lost_field"
            ),
            at(
                "batch:Batch",
                "from typing import List\ndef f(bs: List[Batch]):\n"
                "    return [b.lost_field for b in bs]",
            ),
            at(
                "batch:Batch",
                "def f(b: Batch):\n    return [getattr(b, each) for each in ('kept', 'lost_field')]",
            ),
            at(
                "batch:Batch",
                "class Own:\n    def g(self, b):\n        return b.lost_field\n"
                "    def f(self, b: Batch):\n        return self.g(b)",
            ),
        ),
        (
            at("batch:Batch", "def f(b: Batch):\n    return b.kept"),
            at("batch:Batch", "def f(b: Batch):\n    return getattr(b, 'lost_field', None)"),
            at(
                "batch:Batch",
                "def f(b: Batch):\n    for name in ('lost_field', 'kept'):\n"
                "        if hasattr(b, name):\n            return getattr(b, name)\n"
                "    raise RuntimeError('neither')",
            ),
            at(
                "batch:Batch",
                "class Mixin:\n    lost_field = 1\n    def f(self: Batch):\n"
                "        return self.lost_field",
            ),
            at(
                "batch:Batch",
                "from typing import Union\ndef f(b: Union[Batch, str]):\n"
                "    if isinstance(b, Batch):\n        return 0\n    return b.lost_field",
            ),
            at(
                "batch:Batch",
                "def f(b: Batch):\n    if hasattr(b, 'lost_field'):\n"
                "        return b.lost_field\n    return b.kept",
            ),
            at(
                "batch:Batch",
                "def f(b: Batch):\n    try:\n        return b.lost_field\n"
                "    except AttributeError:\n        return b.kept",
            ),
            at(
                "batch:Batch",
                "class Own(Batch):\n    lost_field = 1\n\n\ndef f(o: Own):\n"
                "    return o.lost_field",
            ),
            "def f(b):\n    return b.lost_field\n",
            *(
                at(
                    "batch:Batch",
                    f"{before}\ndef f(b: Batch):\n    if {question}:\n"
                    "        return b.lost_field\n    return b.kept",
                )
                for before, question in LISTED
            ),
            at(
                "batch:Batch",
                "class A:\n    def __init__(self, b: Batch):\n        self.b = b\n"
                "        self.has = hasattr(b, 'lost_field')\n"
                "    def f(self):\n"
                "        return self.b.lost_field if self.has else self.b.kept",
            ),
            at(
                "batch:Batch",
                "def f(b: Batch):\n    for name in ('lost_field', 'kept'):\n"
                "        if hasattr(b, name):\n            return getattr(b, name)",
            ),
            at(
                "batch:Batch",
                "def f(b: Batch):\n    for name in ('lost_field', 'kept'):\n"
                "        try:\n            return getattr(b, name)\n"
                "        except AttributeError:\n            continue",
            ),
            at(
                "batch:Batch",
                "def f(b: Batch):\n    if not hasattr(b, 'lost_field'):\n"
                "        b.lost_field = 0\n    return b.lost_field",
            ),
            at(
                "batch:Batch",
                "ABSENT = object()\ndef f(b: Batch):\n"
                "    rows = getattr(b, 'lost_field', ABSENT)\n"
                "    if rows is not ABSENT:\n        return b.lost_field\n    return b.kept",
            ),
        ),
    ),
    "field-renamed": Fixture(
        (at("batch:Batch", "def f(b: Batch):\n    return b.old_total_tokens"),),
        (at("batch:Batch", "def f(b: Batch):\n    return b.after"),),
    ),
    "method-removed": Fixture(
        (
            at("batch:Batch", "def f(b: Batch):\n    return b.lost_method()"),
            at("batch:Batch", "def f(kept):\n    b = Batch(kept, 1)\n    return b.lost_method()"),
            at("stats:Item", "def f(item: Item):\n    return item.stats.mark()"),
            "def f(row_index):\n    row_index.lookup([1], True)\n    return row_index.gone()\n",
            at("loop:row_index", "row_index.lookup([1], True)\nrow_index.gone()"),
            # nothing is of a class that is no more
            at(
                "batch:Batch",
                "from typing import TYPE_CHECKING, Union\nif TYPE_CHECKING:\n"
                "    from sglang.srt.names import Mover\n\n\n"
                "def f(b: 'Union[Batch, Mover]'):\n    return b.lost_method()",
            ),
        ),
        (
            at("batch:Batch", "def f(b: Batch):\n    return b.kept_method()"),
            # what merely goes by a name may be of another class of its family
            "def f(wide_shelf):\n    wide_shelf.stand()\n    return wide_shelf.reach()\n",
            # one of two things that are put there
            at("loop:Depot", "def f(depot: Depot):\n    return depot.shelf.reach()"),
            # what an annotation says is not all there is where the plugin puts something else
            at(
                "stats:Item, Stats",
                "def g(item: Item):\n    item.stats = Stats()\n\n\n"
                "def f(item: Item):\n    return item.stats.mark()",
            ),
        ),
    ),
    "method-renamed": Fixture(
        (at("batch:Batch", "def f(b: Batch):\n    return b.before_rename(1, 2)"),),
        (
            at(
                "batch:Batch",
                "def f(b: Batch):\n    if hasattr(b, 'after_rename'):\n"
                "        return b.after_rename(1, 2)\n    return b.before_rename(1, 2)",
            ),
        ),
    ),
    "enum-member-removed": Fixture(
        (
            at("batch:Phase", "x = Phase.LEFT"),
            at("batch:Phase", "def f(p):\n    return p in {Phase.LEFT}"),
        ),
        (
            at("batch:Phase", "x = [Phase.ONE, Phase.TWO.name, Phase.TWO.value, Phase['ONE']]"),
            at("batch:Phase", "x = getattr(Phase, 'LEFT', Phase.TWO)"),
            at("batch:Phase", "x = Phase.LEFT if 'LEFT' in Phase.__members__ else Phase.TWO"),
            at("batch:Phase", "x = Phase.LEFT if 'LEFT' in [m.name for m in Phase] else Phase.TWO"),
            at("stats:Way", "x = Way.FIRST"),
        ),
    ),
    "parameter-removed": Fixture(
        (
            at("calls:fewer", "fewer(1, extra=2)"),
            at("calls:fewer", "fewer(1, 2, 3)"),
            at("calls:fewer", "args = (1, 2, 3)\nfewer(*args)"),
            at("calls:free", "def f(self, i):\n    free(i, self.pool_rows)"),
            at("calls:fewer", "kw = dict(extra=1)\nfewer(1, **kw)"),
            at("calls:fewer", "kw = {}\nkw['extra'] = 1\nfewer(1, **kw)"),
            at(
                "batch:Bag",
                "class Own(Bag):\n    def g(self):\n        return self.fill([1], extra=2)",
            ),
            at(
                "calls:fewer",
                "import inspect\nkw = {}\nif 'b' in inspect.signature(fewer).parameters:\n"
                "    kw['extra'] = 1\nfewer(1, **kw)",
            ),
            "from functools import partial\n" + at("calls:fewer", "f = partial(fewer, extra=3)"),
        ),
        (
            at("calls:fewer", "fewer(1, 2)"),
            # a new name for the same parameter, or an argument of another name
            at("calls:grow", "def f(flash_mask):\n    grow(1, flash_mask)"),
            at("calls:free", "def f(i, keep_it):\n    free(i, keep_it)"),
            at("calls:fewer", "def f(*a, **k):\n    return fewer(*a, **k)"),
            # an object of a class that others of the plugin derive from may be one of those
            at(
                "batch:Bag",
                "class Own(Bag):\n    pass\n\n\nclass Low(Own):\n"
                "    def fill(self, rows, extra=None):\n        return rows\n\n\n"
                "def f(own: Own):\n    return own.fill([1], extra=2)",
            ),
            at(
                "calls:fewer",
                "import inspect\nkw = {}\nif 'extra' in inspect.signature(fewer).parameters:\n"
                "    kw['extra'] = 1\nfewer(1, **kw)",
            ),
            at(
                "calls:fewer",
                "import inspect\nkw = dict(extra=1)\n"
                "if 'extra' not in inspect.signature(fewer).parameters:\n    kw.pop('extra')\n"
                "fewer(1, **kw)",
            ),
            at(
                "calls:fewer",
                "import inspect\nif 'extra' in inspect.signature(fewer).parameters:\n"
                "    fewer(1, extra=2)\nelse:\n    fewer(1)",
            ),
            at(
                "calls:fewer",
                "from inspect import signature\nTAKEN = signature(fewer).parameters.keys()\n"
                "fewer(1, extra=2) if 'extra' in TAKEN else fewer(1)",
            ),
            "import sglang\nfrom packaging.version import parse\n"
            + at(
                "calls:fewer",
                "if parse(sglang.__version__) < parse('0.5.2'):\n    fewer(1, extra=2)\n"
                "else:\n    fewer(1)",
            ),
        ),
    ),
    "parameter-renamed": Fixture(
        (
            at("calls:renamed", "renamed(1, group_size=2)"),
            "from functools import partial\n"
            + at(
                "calls:renamed",
                "def f(a):\n    g = partial(renamed, a)\n    return g(group_size=2)",
            ),
            at("api:Engine", "def f():\n    e = Engine(model_path='m')\n    e.push(name=1)"),
        ),
        (
            at("calls:renamed", "renamed(1, 2)"),
            "from functools import partial\n"
            + at("calls:renamed", "g = partial(renamed, 1)\ng()\ng(2)"),
        ),
    ),
    "parameter-required": Fixture(
        (at("calls:needs", "needs(1)"),),
        (at("calls:same", "same(1)"), at("calls:needs", "def f(*a):\n    return needs(*a)")),
    ),
    "parameter-moved": Fixture(
        (
            at("calls:put", "def f(rows, mask):\n    put(rows, mask)"),
            at("calls:put", "def f(self, rows):\n    put(rows, self.mask)"),
        ),
        (
            at("calls:put", "def f(rows, mask):\n    put(rows, mask=mask)"),
            at("calls:put", "def f(rows, other):\n    put(rows, other)"),
            at("calls:put", "def f(mask):\n    put(mask)"),
        ),
    ),
    "keyword-only": Fixture(
        (at("calls:named", "named(1, True)"),),
        (at("calls:named", "named(1, flag=True)"),),
    ),
    "return-changed": Fixture(
        (
            at(
                "calls:Window",
                "def f(w: Window):\n    name = w.anchor()\n    return name.lower() if name else None",
            ),
            at("calls:pair", "a, b = pair(1)"),
            at("calls:pair", "r = pair(1)\na, b = r"),
            at("calls:inner", "(a, b), c = inner(1)"),
            at("calls:waits", "def f():\n    waits(1)"),
            at("calls:sorts", "def f(x):\n    return 1 if sorts(x) else 2"),
            at("calls:digest", "def f(x):\n    return digest(x) & 255"),
            at("calls:gather", "def f(x):\n    got = gather(x)\n    return [r for r in got]"),
            at("calls:gather", "def f(x):\n    return len(gather(x))"),
            at("calls:halves", "def f(x):\n    rows, n = halves(x)\n    return len(rows) + n"),
            at("calls:Window", "def f(w: Window, x):\n    return list(x) + w.tail"),
            at(
                "calls:sorts", "def f(x):\n    done = sorts(x)\n    if not done:\n        x.clear()"
            ),
            at("calls:waits", "def f():\n    return waits(1).real"),
            at("calls:hurries", "async def f():\n    return await hurries(1)"),
            at("answers:ask", "async def f(x):\n    out = await ask(x)\n    return out.success"),
            at("stats:shorter", "a, b, c = shorter(1)"),
        ),
        (
            at("calls:waits", "import asyncio\nx = waits(1)\nasyncio.run(x)"),
            at("calls:hurries", "x = hurries(1)"),
            at(
                "calls:sorts",
                "def f(x):\n    sorts(x)\n    done = sorts(x)\n    return done is None",
            ),
            at("calls:keeps", "def f(x):\n    return 1 if keeps(x) else 2"),
            at("calls:digest", "def f(x):\n    return digest(x) == 0"),
            at("calls:gather", "def f(x):\n    gather(x)\n    return len(x)"),
            at("calls:halves", "def f(x):\n    rows, n = halves(x)\n    return rows, n - 1"),
            at("calls:Window", "def f(w: Window, x):\n    return list(x) + list(w.tail)"),
            at("calls:inner", "(a, *b), c = inner(1)"),
            at("calls:pair", "a, *rest = pair(1)"),
            at("calls:pair", "a = pair(1)"),
            # the release takes three itself: its annotation is wrong
            at("stats:counted", "a, b, c = counted(1)"),
        ),
    ),
    "override-signature": Fixture(
        (
            at("pool:Pool", "class Own(Pool):\n    def copy(self, rows):\n        return rows"),
            at("loops:Loop", "class Own(Loop):\n    def turn(self): return 2"),
            at("loops:Loop", "class Own(Loop):\n    async def stop(self): return 2"),
            at("loops:Loop", "class Own(Loop):\n    def move(self, rows, mask=None): return 2"),
            at("pool:Pool", "def mine(self, rows):\n    return rows\n\n\nPool.copy = mine"),
            at(
                "stepper:Stepper", "class Own(Stepper):\n    def begin(self, memory): return memory"
            ),
            at("loop:Loop", f"class Own(Loop):\n{_TURN}"),
            at("loop:Loop", f"class Mixin:\n{_TURN}\n\nclass Own(Mixin, Loop):\n    pass"),
            at(
                "pool:Pool",
                "def mine(self, rows):\n    return rows\n\n\ndef swap(cls, name, f):\n"
                "    old = getattr(cls, name)\n    setattr(cls, name, f)\n    return old\n\n\n"
                "old = swap(Pool, 'copy', mine)",
            ),
            at("loop:Rack", "class Own(Rack):\n    def hang(self, row): return row"),
            at("gate:Gate", "class Own(Gate):\n    def pass_on(self, rows, other): return rows"),
            at(
                "loop:Loop",
                f"class Own(Loop):\n{_TURN}    def run(self): return super().run()",
            ),
        ),
        (
            at("pool:Pool", "class Own(Pool):\n" + _POOL),
            # it never took what the base takes: whoever calls it knows
            at("gate:Gate", "class Own(Gate):\n    def pass_on(self, scores, ids): return ids"),
            at("pool:Pool", f"class Mixin:\n{_POOL}\n\nclass Own(Mixin, Pool):\n    pass"),
            # behind the class, or beside it, it stands in for nothing
            at("loop:Loop", f"class Mixin:\n{_TURN}\n\nclass Own(Loop, Mixin):\n    pass"),
            at("loop:Loop", f"class Mixin:\n{_TURN}\n\nclass Own(Mixin):\n    pass"),
            at("loops:Loop", "class Own(Loop):\n    def turn(self): return super().turn()"),
            at("loops:Loop", "class Own(Loop):\n    def move(self, rows, *rest): return 2"),
            at("pool:Pool", "class Own(Pool):\n    def copy(self, *a, **k):\n        return a"),
            at("pool:Pool", "class Own(Pool):\n    def plain(self):\n        return 2"),
            # nobody who runs on such an object calls it as the new release does
            at("loop:Loop", f"class Own(Loop):\n{_TURN}    def round(self): return self.turn(2)"),
            at("loop:Loop", f"class Own(Loop):\n{_TURN}    def run(self): return self.turn(2)"),
            at("loop:Hook", "class Own(Hook):\n    def tie(self, row): return row"),
            # a name of which there is one class, and another one than this
            at("loop:Store", "class Own(Store):\n    def lookup(self, rows): return rows"),
        ),
    ),
    "override-orphaned": Fixture(
        (
            at("pool:Pool", "class Own(Pool):\n    def old_hook(self):\n        return 1"),
            at("stepper:Stepper", "class Own(Stepper):\n    def advance(self): return 3"),
        ),
        (
            at("stranger:Stranger", "class Own(Stranger):\n    def advance(self): return 3"),
            at("pool:Pool", "class Own(Pool):\n    def its_own(self):\n        return 1"),
            at(
                "batch:Batch",
                "class Own(Batch):\n    @property\n    def lost_field(self):\n        return 1",
            ),
        ),
    ),
    "hook-missing": Fixture(
        (at("pool:Linker", "class Own(Linker):\n    def load(self):\n        return 1"),),
        (
            at(
                "pool:Linker",
                "class Own(Linker):\n    def load(self):\n        return 1\n\n"
                "    def finish(self, index):\n        return index",
            ),
            at(
                "pool:Linker",
                "class Half(Linker):\n    def load(self):\n        return 1\n\n\n"
                "class Own(Half):\n    def finish(self, index):\n        return index",
            ),
        ),
    ),
    "patch-target-missing": Fixture(
        (
            at("target:Runner", "def mine(self):\n    return 2\n\n\nRunner.step = mine"),
            at("target:Runner", "setattr(Runner, 'step', lambda self: 2)"),
            at(
                "target:Runner",
                "def put(cls, name, f):\n    setattr(cls, name, f)\n\n\nput(Runner, 'step', print)",
            ),
            "from unittest import mock\nmock.patch('sglang.srt.target.Runner.step', lambda self: 1)\n",
        ),
        (
            at("target:Runner", "def mine(self):\n    return 2\n\n\nRunner.other = mine"),
            at("target:Runner", "Runner.marker_of_ours = True"),
            at(
                "target:Runner",
                "if hasattr(Runner, 'other'):\n    Runner.step = lambda self: self.other()",
            ),
            at(
                "target:Runner",
                "def put(cls, name):\n    setattr(cls, name, 1)\n\n\nput(Runner, 'x')",
            ),
        ),
    ),
    "server-arg-removed": Fixture(
        (
            "CMD = ['python', '-m', 'sglang.launch_server', '--lost-arg', '1']\n",
            "CMD = 'python -m sglang.launch_server --model-path m --lost-arg 1'\n",
            at("server_args:ServerArgs", "ServerArgs('m', lost_arg=1)"),
            at("engine:Engine", "Engine(model_path='m', lost_arg=1)"),
            at("api:Engine", "Engine(model_path='m', lost_arg=1)"),
            "CMD = ['python', '-m', 'sglang.launch_server', '--policy', 'lof']\n",
            at("engine:Engine", "Engine(model_path='m', policy='lof')"),
            at("engine:Engine", "kw = {'model_path': 'm'}\nkw['policy'] = 'lof'\nEngine(**kw)"),
            at("engine:Engine", "kw = {'model_path': 'm'}\nkw.update(policy='lof')\nEngine(**kw)"),
            'POD = """\ncommand: [python3, -m, sglang.launch_server]\nargs:\n'
            '  - --policy\n  - lof\n"""\n',
        ),
        (
            "CMD = ['python', '-m', 'sglang.launch_server', '--tp-size', '2', '--policy', 'fcfs']\n",
            "import argparse\np = argparse.ArgumentParser()\np.add_argument('--lost-arg')\n",
            "CMD = ['python', 'train.py', '--lost-arg', '1']\n",
            at("engine:Engine", "Engine(model_path='m', policy='fcfs')"),
            "from sglang.srt.names import stays\nstays(policy='lof')\n",
            'POD = """\ncommand: [python3, -m, sglang.launch_server]\nargs:\n'
            '  - --policy\n  - fcfs\n  - lof\n"""\n',
            at("engine:Engine", "Engine(model_path='m', tp_size=2, of_our_own=3)"),
            at(
                "server_args:ServerArgs",
                "def extra():\n    if 'lost_arg' in ServerArgs.__dataclass_fields__:\n"
                "        return {'lost_arg': 1}\n    return {}\n\n\nServerArgs('m', **extra())",
            ),
        ),
    ),
    "env-removed": Fixture(
        (
            "import os\nos.environ['SGLANG_OLD_SWITCH'] = '1'\n",
            "import os\nenv = dict(os.environ, SGLANG_OLD_SWITCH='1')\n",
            "import os\nos.environ.update(SGLANG_OLD_SWITCH='1')\n",
            "CMD = 'SGLANG_OLD_SWITCH=1 python -m sglang.launch_server --model-path m'\n",
            "CMD = ['env', 'SGLANG_OLD_SWITCH=1', 'python', '-m', 'sglang.launch_server']\n",
        ),
        (
            "import os\nos.environ.pop('SGLANG_OLD_SWITCH', None)\n",
            "import os\ndel os.environ['SGLANG_OLD_SWITCH']\n",
            "import os\nfor n in ('SGLANG_OLD_SWITCH', 'B'):\n    os.environ.pop(n, None)\n",
            "import os\nos.environ['SGLANG_KEPT'] = '1'\nos.environ['SGLANG_OURS_ALONE'] = '1'\n",
        ),
    ),
    "dtype-changed": Fixture(
        (
            at("calls:typed", "typed(3)"),
            at("calls:typed", "def f(a, b):\n    return typed(a - b)"),
            at("calls:start", "start(2, 'own')"),
            at(
                "calls:Window",
                "def f(w: Window, i):\n    rows = w.rows\n    return rows.index_select(0, i)",
            ),
            at("calls:Window", "def f(w: Window):\n    return [p.numpy() for p in w.parts]"),
            at("calls:Window", "def f(w: Window):\n    return w.held.cpu()"),
            at("calls:Window", "def f(w: Window):\n    return w.table[0]"),
            at(
                "calls:Window",
                "def f(w: Window):\n    t = w.table or []\n    return t[0] if t else 0",
            ),
            at("calls:Window", "def f(w: Window):\n    return w.details['a']"),
            at("calls:Window", "def f(w: Window):\n    a, b = w.two\n    return a * b"),
            at("calls:Window", "def f(w: Window):\n    return w.limit * 2"),
            at("calls:Window", "def f(w: Window):\n    return w.limit > 0 and w.limit == 1"),
        ),
        (
            at("calls:typed", "def f(x):\n    return typed(x)"),
            # the class fills it in; and keys of a mapping that was merely annotated before
            at("calls:Filled", "def f(w: Filled):\n    return w.size * 2, w.chart['b']"),
            # it travels in a box, and its class takes it out; and what was annotated wrongly at first
            at("calls:Crate", "def f(c: Crate):\n    return [x for x in c.load]"),
            at(
                "calls:Label, Marker", "def f(label: Label):\n    return Marker(pattern=label.text)"
            ),
            at("calls:start", "start(2, backend='own')\nstart(2, None)\nstart(2, 'a' + 'b')"),
            at("calls:Window", "def f(w: Window):\n    return w.table['a'], w.table.__len__()"),
            at("calls:Window", "def f(w: Window):\n    return w.limit * 2 if w.limit else 0"),
            at("calls:Window", "def f(w: Window):\n    return (w.limit or 1) * 2, w.limit == 1"),
            at(
                "calls:Window",
                "def f(w: Window):\n    while w.limit is not None and w.limit > 1:\n        w.step()",
            ),
            at(
                "calls:Window",
                "def f(w: Window):\n    if isinstance(w.table, list):\n        return w.table[0]\n    return 0",
            ),
            at(
                "calls:Window",
                "def f(w: Window):\n    try:\n        return w.details['a']\n"
                "    except TypeError:\n        return w.details.tensor",
            ),
            at("calls:Window", "def f(w: Window):\n    return w.names.lower(), w.rows.__len__()"),
            at(
                "calls:Window",
                "def f(w: Window):\n    rows = w.rows\n    return rows.cpu() if hasattr(rows, 'cpu') else rows",
            ),
            at(
                "calls:Window",
                "def f(w: Window):\n    rows = w.rows\n    if isinstance(rows, list):\n        return rows\n    return rows.cpu()",
            ),
            at(
                "calls:Window",
                "import torch\ndef f(w: Window):\n    rows = w.rows\n    if torch.is_tensor(rows):\n        return rows.cpu()\n    return rows",
            ),
            at(
                "calls:Window",
                "def f(w: Window):\n    try:\n        return w.rows.cpu()\n    except AttributeError:\n        return [r.cpu() for r in w.rows]",
            ),
        ),
    ),
    "registry-removed": Fixture(
        (
            at("tables:TABLE", "x = TABLE['beta']"),
            at("filled:THINGS", "x = THINGS['beta']"),
            at("tables:TABLE", "def take(name):\n    return TABLE[name]\n\n\nx = take('beta')"),
            at(
                "tables:TABLE",
                "def wrap(name):\n    def keep(f):\n        f.inner = TABLE[name]\n"
                "        return f\n    return keep\n\n\n@wrap('beta')\ndef own():\n    return 1",
            ),
            at("tables:TABLE", "NAMES = ('alpha', 'beta')\nx = [TABLE[n] for n in NAMES]"),
            at("tables:TABLE", "for n in ('alpha', 'beta'):\n    print(TABLE[n])"),
        ),
        (
            at(
                "tables:TABLE",
                "def take(name):\n    return TABLE[name] if name in TABLE else None\n\n\n"
                "x = take('beta')",
            ),
            at("tables:TABLE", "x = [TABLE[n] for n in ('alpha', 'beta') if n in TABLE]"),
            at(
                "tables:TABLE",
                "for n in ('beta', 'alpha'):\n    if n not in TABLE:\n        continue\n"
                "    print(TABLE[n])",
            ),
            at(
                "tables:TABLE",
                "def first():\n    for n in ('beta', 'alpha'):\n        try:\n"
                "            return TABLE[n]\n        except KeyError:\n            continue\n"
                "    raise RuntimeError('neither')",
            ),
            at("filled:THINGS", "x = THINGS['alpha']"),
            at("tables:TABLE", "x = TABLE['alpha']\ny = TABLE.get('beta')"),
            at("tables:TABLE", "x = TABLE['beta'] if 'beta' in TABLE else TABLE['alpha']"),
        ),
    ),
    "obligation-unmet": Fixture(
        (at("pool:Spec", "class Own(Spec):\n    pass"),),
        (
            at("pool:Spec", "class Own(Spec):\n    def future_map(self, n):\n        return n"),
            at("pool:Spec", "class Own(Spec):\n    def __getattr__(self, name):\n        return 1"),
        ),
    ),
    "guard-wrong": Fixture(
        (
            "import sglang\nfrom packaging import version\n"
            "if version.parse(sglang.__version__) >= version.parse('0.5.2'):\n"
            "    from sglang.srt.names import dropped\nelse:\n    from sglang.srt.names import stays\n",
        ),
        (
            "import sglang\nfrom packaging import version\n"
            "if version.parse(sglang.__version__) >= version.parse('0.5.2'):\n"
            "    from sglang.srt.names import stays\nelse:\n    from sglang.srt.names import dropped\n",
        ),
    ),
    "retired": Fixture(
        (at("calls:retiring", "retiring()"),),
        (at("calls:retiring", "f = retiring"),),
    ),
    "behaviour-changed": Fixture(
        (
            "import os\nOFF = os.environ.get('SGLANG_QUICK', '0') == '0'\n",
            "import os\ndef f():\n    return os.getenv('SGLANG_QUICK', 'false')\n",
            at("environ:envs", "def f():\n    return envs.SGLANG_QUICK.get()"),
            at("tables:TABLE", "assert 'gamma' not in TABLE\nTABLE['gamma'] = 4"),
            at("loop:Crate", "class Own(Crate):\n    def lift(self):\n        return self.count()"),
            at("meaning:shifted", "shifted([1])"),
            at("pool:Pool", f"class Own(Pool):\n{_PUT}        return self.rows[loc]"),
        ),
        (
            "import os\nON = os.environ.get('SGLANG_QUICK', '1') == '1'\n",
            "import os\nON = os.environ.get('SGLANG_STEADY', '0') == '1'\n",
            "import os\nos.environ['SGLANG_QUICK'] = '0'\n"
            + at("environ:envs", "x = envs.SGLANG_QUICK.get()"),
            at("tables:TABLE", "TABLE['gamma'] = 4\nassert 'delta' not in TABLE"),
            at("tables:TABLE", "if 'gamma' not in TABLE:\n    TABLE['gamma'] = 4"),
            at("pool:Pool", f"class Own(Pool):\n{_PUT}        return getattr(loc, 'rows', loc)"),
            at(
                "pool:Pool",
                f"class Own(Pool):\n{_PUT}        if not isinstance(loc, int):\n"
                "            loc = loc.rows\n        return loc",
            ),
            at("pool:Pool", f"class Own(Pool):\n{_PUT}        raise RuntimeError('never written')"),
            at(
                "pool:Pool",
                "class Own(Pool):\n    def put(self, layer, loc: 'Record'):\n        return loc",
            ),
            at("meaning:shifted", "def f(Rows):\n    return shifted(Rows([1]))"),
            at("meaning:steady", "steady([1])"),
            # what comes from elsewhere, or only goes on there, is a note
            at(
                "loop:Crate",
                "class Own(Crate):\n    def lift(self):\n        return self.inner.lift()",
            ),
            at(
                "pool:Pool",
                "class Own(Pool):\n    def put(self, layer, loc=None):\n"
                "        return self.inner.keep(layer, loc)",
            ),
        ),
    ),
}
"""Rule → its fixtures. Each firing one gives that rule in 0.5.2 and nothing in 0.5.1."""
