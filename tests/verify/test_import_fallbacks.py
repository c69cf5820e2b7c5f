"""Imports with a fallback: no trouble in either release, and what only looks like one is told."""

from __future__ import annotations

from collections.abc import Callable

import pytest

OLD = {
    "srt/home.py": """
    def moved(a): return a
    async def turned(a) -> int: return 1
    class Batch:
        def __init__(self):
            self.kept = 1
            self.lost: int = 2
    """,
    "srt/house.py": "def other(a): return a\n",
    "srt/attic.py": "def thing(a): return a\n",
}
NEW = {
    "srt/home.py": """
    def turned(a) -> int: return 1
    class Batch:
        def __init__(self):
            self.kept = 1
    """,
    "srt/house.py": "def other(a): return a\ndef moved(a): return a\n",
    "srt/cellar.py": "def thing(a): return a\n",
}
HEAD = """
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec
from sglang.srt import home
from sglang.srt.home import Batch, turned
"""

Trouble = Callable[..., list[str]]

FALLBACKS = {
    "import_module": """
try:
    m = import_module("sglang.srt.attic")
except ImportError:
    m = import_module("sglang.srt.cellar")
x = m.thing(1)
""",
    "find_spec": """
if find_spec("sglang.srt.attic"):
    from sglang.srt.attic import thing as t
else:
    from sglang.srt.cellar import thing as t
""",
    "find_spec kept": """
HAS = find_spec("sglang.srt.attic") is not None
if HAS:
    from sglang.srt.attic import thing as t
else:
    from sglang.srt.cellar import thing as t
""",
    "suppress, then None": """
t = None
with suppress(ImportError):
    from sglang.srt.attic import thing as t
if t is None:
    from sglang.srt.cellar import thing as t
""",
    "suppress, then not": """
t = None
with suppress(ImportError):
    from sglang.srt.cellar import thing as t
if not t:
    from sglang.srt.attic import thing as t
""",
    "suppress twice": """
with suppress(Exception):
    from sglang.srt.attic import thing as t
with suppress(Exception):
    from sglang.srt.cellar import thing as t
""",
    "await": """
async def f():
    try:
        return await turned(1)
    except TypeError:
        return turned(1)
""",
    "None and import": """
def f():
    try:
        from sglang.srt.attic import thing
    except ImportError:
        thing = None
    if thing is None:
        from sglang.srt.cellar import thing
    return thing(1)
""",
    "attribute of a module": """
def f():
    try:
        mod = import_module("sglang.srt.house")
        return mod.moved(1)
    except AttributeError:
        mod = import_module("sglang.srt.home")
        return mod.moved(1)
""",
    "path chosen": """
path = "sglang.srt.attic" if find_spec("sglang.srt.attic") else "sglang.srt.cellar"
m = import_module(path)
m.thing(1)
""",
    "globals": """
with suppress(ImportError):
    from sglang.srt.attic import thing as t
if "t" not in globals():
    from sglang.srt.cellar import thing as t
""",
    "suppress and return": """
def f():
    with suppress(ImportError):
        from sglang.srt.attic import thing
        return thing(1)
    from sglang.srt.cellar import thing
    return thing(1)
""",
    "import_module, None": """
def f():
    try:
        m = import_module("sglang.srt.attic")
    except ImportError:
        m = None
    if m is None:
        m = import_module("sglang.srt.cellar")
    return m.thing(1)
""",
    "find_spec in try": """
def f():
    try:
        spec = find_spec("sglang.srt.attic")
    except ModuleNotFoundError:
        spec = None
    if spec is not None:
        from sglang.srt.attic import thing
    else:
        from sglang.srt.cellar import thing
    return thing(1)
""",
    "await bound": """
async def f():
    try:
        r = await turned(1)
    except TypeError:
        r = turned(1)
    return r
""",
}
NO_FALLBACKS: dict[str, tuple[str, list[str]]] = {
    "other exception": (
        """
try:
    m = import_module("sglang.srt.attic")
except ValueError:
    m = import_module("sglang.srt.cellar")
""",
        ["error sglang.srt.attic"],
    ),
    "suppress another": (
        """
t = None
with suppress(KeyError):
    from sglang.srt.attic import thing as t
""",
        ["error sglang.srt.attic:thing"],
    ),
    "await, other exception": (
        """
async def f():
    try:
        return await turned(1)
    except ValueError:
        return turned(1)
""",
        ["error sglang.srt.home:turned"],
    ),
    "find_spec without else": (
        """
if find_spec("sglang.srt.attic"):
    from sglang.srt.attic import thing as t
    t(1)
""",
        ["warning sglang.srt.attic"],
    ),
    "suppress and use": (
        """
with suppress(ImportError):
    from sglang.srt.attic import thing as t
def f():
    return t(1)
""",
        ["warning sglang.srt.attic:thing"],
    ),
    "way out gone": (
        """
try:
    from sglang.srt.attic import thing as t
except ImportError:
    from sglang.srt.home import moved as t
""",
        ["error sglang.srt.home:moved"],
    ),
    "suppress, None, raise": (
        """
t = None
with suppress(ImportError):
    from sglang.srt.attic import thing as t
def f():
    if t is None:
        raise RuntimeError("no thing")
    return t(1)
""",
        ["warning sglang.srt.attic:thing"],
    ),
    "None, raise": (
        """
try:
    from sglang.srt.attic import thing as t
except ImportError:
    t = None
def f():
    if t is None:
        raise RuntimeError("no thing")
    return t(1)
""",
        ["warning sglang.srt.attic:thing"],
    ),
    "suppress twice, two names": (
        """
with suppress(ImportError):
    from sglang.srt.attic import thing as t
with suppress(ImportError):
    from sglang.srt.home import moved as t
""",
        ["warning sglang.srt.attic:thing", "warning sglang.srt.home:moved"],
    ),
    "suppress twice, both gone": (
        """
with suppress(ImportError):
    from sglang.srt.attic import thing as t
with suppress(ImportError):
    from sglang.srt.home import moved as t
""",
        ["warning sglang.srt.attic:thing", "warning sglang.srt.home:moved"],
    ),
    "suppress a call": (
        """
with suppress(ImportError):
    import_module("sglang.srt.attic").thing(1)
""",
        ["warning sglang.srt.attic"],
    ),
    "attribute is not import": (
        """
try:
    m = import_module("sglang.srt.home").moved
except ImportError:
    m = None
""",
        ["error sglang.srt.home:moved"],
    ),
    "suppress, another failure": (
        """
with suppress(ImportError):
    from sglang.srt.attic import thing
    b = Batch()
    print(b.lost)
""",
        ["error sglang.srt.home:Batch.lost", "warning sglang.srt.attic:thing"],
    ),
}


@pytest.mark.parametrize("form", FALLBACKS)
def test_an_import_with_a_fallback_is_no_trouble_in_either_release(
    trouble: Trouble, form: str
) -> None:
    assert trouble(OLD, NEW, HEAD + FALLBACKS[form]) == []


@pytest.mark.parametrize("form", NO_FALLBACKS)
def test_what_only_looks_like_a_fallback_is_told(trouble: Trouble, form: str) -> None:
    text, expected = NO_FALLBACKS[form]
    assert trouble(OLD, NEW, HEAD + text) == expected
