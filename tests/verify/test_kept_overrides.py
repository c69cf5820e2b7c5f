"""An old override beside the new one: a plugin for releases before and after keeps both."""

from __future__ import annotations

from collections.abc import Callable

import pytest

OLD = {
    "srt/home.py": """
class Batch: pass
class Sched:
    def step(self): return 1
    def old_step(self): return 1
class Loop:
    def __init__(self, sched: Sched):
        self.sched: Sched = sched
    def run(self):
        return self.sched.old_step()
""",
}
NEW = {
    "srt/home.py": """
class Batch: pass
class Sched:
    def step(self): return 1
    def new_step(self): return 1
class Loop:
    def __init__(self, sched: Sched):
        self.sched: Sched = sched
    def run(self):
        return self.sched.new_step()
""",
}
HEAD = """
from sglang.srt.home import Batch, Sched
"""

Trouble = Callable[..., list[str]]

FINE = {
    "beside the new one": """
class O(Sched):
    def new_step(self): return 2
    def old_step(self): return 2
""",
    "called by the new one": """
class O(Sched):
    def new_step(self): return self.old_step()
    def old_step(self): return 2
""",
    "in a mixin": """
class M:
    def old_step(self): return 2
class O(M, Sched):
    def new_step(self): return 3
""",
    "by another name": """
class O(Sched):
    def _do(self): return 2
    old_step = _do
    def new_step(self): return self._do()
""",
    "in a base of its own": """
class A(Sched):
    def old_step(self): return 2
class O(A):
    def new_step(self): return 3
""",
    "called by one in use": """
class O(Sched):
    def step(self): return self.old_step()
    def old_step(self): return 2
""",
    "the new one in a mixin": """
class N:
    def new_step(self): return self.old_step()
class O(N, Sched):
    def old_step(self): return 2
""",
}
TOLD: dict[str, tuple[str, list[str]]] = {
    "alone": (
        """
class O(Sched):
    def old_step(self): return 2
""",
        ["error sglang.srt.home:Sched.old_step"],
    ),
    "called by a method of its own": (
        """
class O(Sched):
    def old_step(self): return 2
    def mine(self): return self.old_step()
""",
        ["error sglang.srt.home:Sched.old_step"],
    ),
    "the new one in another class": (
        """
class O(Sched):
    def old_step(self): return 2
class P(Batch):
    def new_step(self): return 2
""",
        ["error sglang.srt.home:Sched.old_step"],
    ),
    "beside one that was there before": (
        """
class O(Sched):
    def step(self): return 1
    def old_step(self): return 2
""",
        ["error sglang.srt.home:Sched.old_step"],
    ),
}


@pytest.mark.parametrize("form", FINE)
def test_an_old_override_that_is_kept_beside_the_new_one_is_no_trouble(
    trouble: Trouble, form: str
) -> None:
    assert trouble(OLD, NEW, HEAD + FINE[form]) == []


@pytest.mark.parametrize("form", TOLD)
def test_an_old_override_without_a_new_one_is_told(trouble: Trouble, form: str) -> None:
    text, expected = TOLD[form]
    assert trouble(OLD, NEW, HEAD + text) == expected
