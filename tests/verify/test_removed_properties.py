"""Properties that are gone, of an annotated object: SGLang's test doubles do not hide them."""

from __future__ import annotations

import pytest

_RUN = """
    from functools import cached_property
    class Mixin:
        @property
        def gone2(self):
            return 1
    class Runner(Mixin):
        def __init__(self, n: int):
            self.n = n
        @property
        def gone(self):
            return 1
        @cached_property
        def gone3(self):
            return 1
    class Draft(Runner):
        pass
    def make() -> Runner:
        return Runner(1)
"""
_DOUBLE = """
    from sglang.srt.run import Runner
    class MockRunner(Runner):
        def __init__(self):
            self.gone = 1
            self.gone2 = 1
            self.gone3 = 1
"""
_GONE = (
    "        @property\n        def gone(self):\n            return 1\n",
    "        @cached_property\n        def gone3(self):\n            return 1\n",
)


def _changed(text: str) -> str:
    for old in _GONE:
        assert old in text
        text = text.replace(old, "")
    return text.replace(
        "        @property\n        def gone2(self):\n            return 1\n", "        pass\n"
    )


_BESIDE = {"__init__.py": "", "srt/__init__.py": "", "test/__init__.py": "", "test/kit.py": _DOUBLE}
OLD = _BESIDE | {"srt/run.py": _RUN}
NEW = _BESIDE | {"srt/run.py": _changed(_RUN)}
HEAD = """from typing import *
from sglang.srt.run import Runner, Draft, make
import sglang.srt.run as run
"""

TOLD = {
    "plain": """
def f(mr: Runner): return mr.gone
""",
    "quoted": """
def f(mr: 'Runner'): return mr.gone
""",
    "future": """
def f(mr: run.Runner): return mr.gone
""",
    "optional": """
def f(mr: Optional[Runner] = None):
    if mr is None: return 0
    return mr.gone
""",
    "pipe": """
def f(mr: Runner | None): return mr.gone if mr else 0
""",
    "union": """
def f(mr: Union[Runner, Draft]): return mr.gone
""",
    "annotated": """
def f(mr: Annotated[Runner, 'x']): return mr.gone
""",
    "mixin": """
def f(mr: Runner): return mr.gone2
""",
    "cached": """
def f(mr: Runner): return mr.gone3
""",
    "sub": """
def f(mr: Draft): return mr.gone
""",
    "kwonly": """
def f(*, mr: Runner): return mr.gone
""",
    "posonly": """
def f(mr: Runner, /): return mr.gone
""",
    "async": """
async def f(mr: Runner): return mr.gone
""",
    "closure": """
def f(mr: Runner):
    def g(): return mr.gone
    return g
""",
    "lambda": """
def f(mr: Runner): return lambda: mr.gone
""",
    "attr": """
class A:
    def __init__(self, mr: Runner): self.mr = mr
    def f(self): return self.mr.gone
""",
    "attr-decl": """
class A:
    mr: Runner
    def f(self): return self.mr.gone
""",
    "attr-cond": """
class A:
    def __init__(self, mr: Optional[Runner] = None): self.mr = mr
    def f(self):
        if self.mr: return self.mr.gone
""",
    "typevar": """
T = TypeVar('T', bound=Runner)
def f(mr: T) -> T:
    mr.gone
    return mr
""",
    "type-checking": """
from typing import TYPE_CHECKING
if TYPE_CHECKING:
    from sglang.srt.run import Runner as R
def f(mr: 'R'): return mr.gone
""",
    "local-alias": """
def f(mr: Runner):
    m = mr
    return m.gone
""",
    "getattr": """
def f(mr: Runner): return getattr(mr, 'gone')
""",
    "returned": """
def f(): return make().gone
""",
    "with-default-obj": """
def f(mr: Runner = make()): return mr.gone
""",
    "seq": """
def f(mrs: Sequence[Runner]): return [m.gone for m in mrs]
""",
    "callable-arg": """
def g(mr: Runner): return mr
def f(mr: Runner): return g(mr).gone
""",
    "passed-unannotated": """
def g(mr): return mr.gone
def f(mr: Runner): return g(mr)
""",
    "method-unannotated": """
class A:
    def g(self, mr): return mr.gone
    def f(self, mr: Runner): return self.g(mr)
""",
    "local-var-note": """
def f(x):
    mr: Runner = x
    return mr.gone
""",
    "assert": """
def f(x):
    assert isinstance(x, Runner)
    return x.gone
""",
    "property-ref": """
P = Runner.gone
""",
    "property-fget": """
P = Runner.gone.fget
""",
    "prop-override": """
class A(Runner):
    def f(self): return self.gone
""",
    "super": """
class A(Runner):
    @property
    def gone(self): return super().gone
""",
    "exact": """
def f(): return Runner(1).gone
""",
    "while": """
def f(mr: Runner):
    while mr.gone: pass
""",
}
"""Way of having the object → a plugin that reads a property of it."""

SILENT = {
    "hasattr": """
def f(mr: Runner):
    return mr.n
""",
    "mock": """
from sglang.test.kit import MockRunner
def f(mr: MockRunner): return mr.gone
""",
}
"""Near twins."""


@pytest.mark.parametrize("way", TOLD)
def test_a_removed_property_is_told(way, broken_by):
    found = broken_by(OLD, NEW, HEAD + TOLD[way])
    assert any(each.startswith("error") and "gone" in each for each in found)


@pytest.mark.parametrize("way", SILENT)
def test_what_is_still_there_is_no_reason_for_a_finding(way, trouble):
    assert trouble(OLD, NEW, HEAD + SILENT[way]) == []


def test_a_class_that_derives_from_it_may_have_the_property(trouble):
    below = {"srt/below.py": _DOUBLE}
    plugin = HEAD + TOLD["plain"]
    assert trouble(OLD | below, NEW | below, plugin) == []
