"""Candidates for an import that a loop or a helper tries one after the other: one is enough."""

from __future__ import annotations

from collections.abc import Callable

import pytest

OLD = {
    "srt/home.py": "def moved(a): return a\nclass Batch: pass\n",
    "srt/house.py": "def other(a): return a\n",
    "srt/attic.py": "def thing(a): return a\n",
}
NEW = {
    "srt/home.py": "class Batch: pass\n",
    "srt/house.py": "def other(a): return a\ndef moved(a): return a\n",
    "srt/cellar.py": "def thing(a): return a\n",
}
HEAD = """
from importlib import import_module
from importlib.util import find_spec
from pkgutil import resolve_name
import sglang.srt.home
"""

Trouble = Callable[..., list[str]]

ONE_IS_ENOUGH = {
    "loop over a display": """
def load():
    modules = []
    for path in ("sglang.srt.cellar", "sglang.srt.attic"):
        try:
            modules.append(import_module(path))
        except (ImportError, OSError):
            continue
    return modules
""",
    "pairs passed by name": """
CANDS = [("sglang.srt.attic", "thing"), ("sglang.srt.cellar", "thing")]
def first_of(cands):
    for module_name, attr in cands:
        try:
            return getattr(import_module(module_name), attr)
        except (ImportError, AttributeError):
            continue
    raise ImportError("none")
X = first_of(CANDS)
""",
    "table of a class": """
class Compat:
    PLACES = {"thing": ("sglang.srt.attic", "sglang.srt.cellar")}
    def get(self, name):
        for place in self.PLACES[name]:
            try:
                module = import_module(place)
            except ImportError:
                continue
            if hasattr(module, name):
                return getattr(module, name)
        return None
""",
    "star arguments": """
def first(*paths):
    for p in paths:
        try:
            return import_module(p)
        except ImportError:
            pass
    raise ImportError
m34 = first("sglang.srt.attic", "sglang.srt.cellar")
m34.thing(1)
""",
    "helper or helper": """
def imp(path, name):
    try:
        return getattr(import_module(path), name)
    except (ImportError, AttributeError):
        return None
t33 = imp("sglang.srt.attic", "thing") or imp("sglang.srt.cellar", "thing")
""",
    "list by name": """
_MODULES = ["sglang.srt.cellar", "sglang.srt.attic"]
mod = None
for _m in _MODULES:
    try:
        mod = import_module(_m)
        break
    except ImportError:
        pass
""",
    "mapping, get": """
MAP = {"thing": ["sglang.srt.cellar", "sglang.srt.attic"]}
def resolve(name):
    for path in MAP.get(name, ()):
        try:
            return getattr(import_module(path), name)
        except (ImportError, AttributeError):
            continue
    raise AttributeError(name)
""",
    "names with a colon": """
def try_import(*candidates):
    last = None
    for cand in candidates:
        mod, _, attr = cand.partition(":")
        try:
            return getattr(import_module(mod), attr)
        except Exception as e:
            last = e
    raise last
T = try_import("sglang.srt.attic:thing", "sglang.srt.cellar:thing")
""",
    "pairs as arguments": """
def try_import(*candidates):
    for mod, attr in candidates:
        try:
            m = __import__(mod, fromlist=[attr])
            return getattr(m, attr)
        except Exception:
            continue
T = try_import(("sglang.srt.attic", "thing"), ("sglang.srt.cellar", "thing"))
""",
    "helper asks find_spec": """
def have(name):
    return find_spec(name) is not None
if have("sglang.srt.attic"):
    from sglang.srt.attic import thing as t26
else:
    from sglang.srt.cellar import thing as t26
""",
    "helper tries": """
def have2(name):
    try:
        import_module(name)
        return True
    except ImportError:
        return False
if have2("sglang.srt.attic"):
    from sglang.srt.attic import thing as t27
else:
    from sglang.srt.cellar import thing as t27
""",
    "find_spec in a loop": """
def pick():
    for name in ("sglang.srt.attic", "sglang.srt.cellar"):
        if find_spec(name) is None:
            continue
        return import_module(name)
""",
    "find_spec in a comprehension": """
names = [n for n in ("sglang.srt.attic", "sglang.srt.cellar") if find_spec(n)]
mod = import_module(names[0])
""",
    "the last one raises": """
def pick():
    paths = ["sglang.srt.attic", "sglang.srt.cellar"]
    for i, p in enumerate(paths):
        try:
            return import_module(p)
        except ImportError:
            if i == len(paths) - 1:
                raise
""",
    "the error is kept": """
def pick():
    err = None
    for path, name in (("sglang.srt.home", "moved"), ("sglang.srt.house", "moved")):
        try:
            return getattr(import_module(path), name)
        except (ImportError, AttributeError) as e:
            err = e
    raise err
""",
    "list and keyword": """
def _load(paths, attr):
    errors = []
    for path in paths:
        try:
            mod = import_module(path)
        except ImportError as e:
            errors.append(e)
            continue
        obj = getattr(mod, attr, None)
        if obj is not None:
            return obj
    raise ImportError(errors)
thing = _load(["sglang.srt.attic", "sglang.srt.cellar"], "thing")
other = _load(attr="moved", paths=("sglang.srt.house", "sglang.srt.home"))
""",
    "resolve_name": """
def target():
    for name in ("sglang.srt.home:moved", "sglang.srt.house:moved"):
        try:
            return resolve_name(name)
        except (ImportError, AttributeError) as exc:
            error = exc
    raise error
""",
    "values of a row": """
PATHS = {
    "thing": {"new": "sglang.srt.cellar", "old": "sglang.srt.attic"},
}
def get(name):
    for path in PATHS[name].values():
        try:
            return getattr(import_module(path), name)
        except ImportError:
            continue
""",
    "attribute of an object": """
class Loader:
    def __init__(self):
        self.paths = ["sglang.srt.attic.thing", "sglang.srt.cellar.thing"]
    def load(self):
        for p in self.paths:
            mod, name = p.rsplit(".", 1)
            try:
                return getattr(import_module(mod), name)
            except ImportError:
                pass
""",
}
NOT_ENOUGH: dict[str, tuple[str, list[str]]] = {
    "no try": (
        """
def load():
    modules = []
    for path in ("sglang.srt.home", "sglang.srt.attic"):
        modules.append(import_module(path))
    return modules
""",
        ["error sglang.srt.attic"],
    ),
    "each of the pairs is gone": (
        """
CANDS = [("sglang.srt.attic", "thing"), ("sglang.srt.home", "moved")]
def first_of(cands):
    for module_name, attr in cands:
        try:
            return getattr(import_module(module_name), attr)
        except (ImportError, AttributeError):
            continue
    raise ImportError("none")
X = first_of(CANDS)
""",
        [
            "warning sglang.srt.attic",
            "warning sglang.srt.attic:thing",
            "warning sglang.srt.home:moved",
        ],
    ),
    "no other candidate of its row": (
        """
class Compat:
    PLACES = {"thing": ("sglang.srt.attic", "sglang.srt.other"), "moved": ("sglang.srt.home",)}
    def get(self, name):
        for place in self.PLACES[name]:
            try:
                module = import_module(place)
            except ImportError:
                continue
            if hasattr(module, name):
                return getattr(module, name)
        return None
""",
        ["warning sglang.srt.attic"],
    ),
    "the handler raises": (
        """
def load_all():
    found = {}
    for module_name, attr in [("sglang.srt.attic", "thing"), ("sglang.srt.home", "Batch")]:
        try:
            module = import_module(module_name)
        except ImportError:
            print("no", module_name)
            raise
        found[attr] = getattr(module, attr)
    return found
""",
        ["error sglang.srt.attic", "warning sglang.srt.attic:thing"],
    ),
    "all are wanted": (
        """
def load_all(pairs):
    out = []
    for module_name, attr in pairs:
        out.append(getattr(import_module(module_name), attr))
    return out
load_all([("sglang.srt.attic", "thing"), ("sglang.srt.home", "Batch")])
""",
        ["warning sglang.srt.attic", "warning sglang.srt.attic:thing"],
    ),
    "another helper wants all": (
        """
def first(*paths):
    for p in paths:
        try:
            return import_module(p)
        except ImportError:
            pass
    raise ImportError
def every(*paths):
    return [import_module(p) for p in paths]
every("sglang.srt.attic", "sglang.srt.cellar")
""",
        ["warning sglang.srt.cellar", "warning sglang.srt.attic"],
    ),
    "another exception": (
        """
def first(*paths):
    for p in paths:
        try:
            return import_module(p)
        except ValueError:
            pass
    raise ImportError
first("sglang.srt.attic", "sglang.srt.cellar")
""",
        ["warning sglang.srt.cellar", "warning sglang.srt.attic"],
    ),
    "helper without a try": (
        """
def imp(path, name):
    return getattr(import_module(path), name)
t33 = imp("sglang.srt.attic", "thing") or imp("sglang.srt.cellar", "thing")
""",
        ["warning sglang.srt.cellar", "warning sglang.srt.attic"],
    ),
    "one helper alone": (
        """
def imp(path, name):
    try:
        return getattr(import_module(path), name)
    except ImportError:
        return None
t33 = imp("sglang.srt.attic", "thing")
""",
        ["warning sglang.srt.attic"],
    ),
}


@pytest.mark.parametrize("form", ONE_IS_ENOUGH)
def test_one_of_several_candidates_is_enough(trouble: Trouble, form: str) -> None:
    assert trouble(OLD, NEW, HEAD + ONE_IS_ENOUGH[form]) == []


@pytest.mark.parametrize("form", NOT_ENOUGH)
def test_what_is_no_candidate_among_others_is_told(trouble: Trouble, form: str) -> None:
    text, expected = NOT_ENOUGH[form]
    assert trouble(OLD, NEW, HEAD + text) == expected
