"""Functions that are put on an object have no ``self``; those on a class have."""

from __future__ import annotations

from collections.abc import Callable

import pytest

OLD = {
    "srt/home.py": """
class Check:
    def handle(self, action): pass
class Uses:
    def __init__(self, check: Check):
        self.check: Check = check
    def run(self):
        self.check.handle(1)
""",
}
NEW = {
    "srt/home.py": """
class Check:
    def handle(self, action, extra=False): pass
class Uses:
    def __init__(self, check: Check):
        self.check: Check = check
    def run(self):
        self.check.handle(1, extra=True)
""",
}
HEAD = """
import functools
from unittest.mock import patch
from sglang.srt.home import Check
"""

Trouble = Callable[..., list[str]]

TAKES = {
    "a lambda": """
def q(c: Check):
    c.handle = lambda action, extra=False: None
""",
    "a closure": """
def q(c: Check):
    stock = c.handle
    def ours(*a, **k):
        return stock(*a, **k)
    c.handle = ours
""",
    "by setattr": """
def _ours(action, extra=False):
    return None
def q(c: Check):
    setattr(c, "handle", _ours)
""",
    "a bound method": """
class W:
    def __init__(self, c: Check):
        self.c = c
        c.handle = self.mine
    def mine(self, action, extra=False): pass
""",
    "on an attribute": """
class W:
    def __init__(self, c: Check):
        self.c = c
        self.c.handle = lambda action, extra=False: 0
""",
    "a static method": """
class W:
    @staticmethod
    def mine(action, extra=False): pass
    def f(self, c: Check):
        c.handle = W.mine
""",
    "on the class": """
Check.handle = lambda self, action, extra=False: None
""",
    "static on the class": """
Check.handle = staticmethod(lambda action, extra=False: None)
""",
    "patched on the object": """
def q(c: Check):
    with patch.object(c, "handle", lambda action, extra=False: None):
        pass
""",
    "a partial": """
def _impl(owner, action, extra=False):
    return owner
def q(c: Check, o):
    c.handle = functools.partial(_impl, o)
""",
}
LACKS: dict[str, str] = {
    "a lambda": """
def q(c: Check):
    c.handle = lambda action: None
""",
    "by setattr": """
def _ours(action): pass
def q(c: Check):
    setattr(c, "handle", _ours)
""",
    "a bound method": """
class W:
    def __init__(self, c: Check):
        c.handle = self.mine
    def mine(self, action): pass
""",
    "on the class": """
def _m(self, action): pass
Check.handle = _m
""",
    "static on the class": """
Check.handle = staticmethod(lambda action: None)
""",
    "a closure": """
def q(c: Check):
    def ours(action): pass
    c.handle = ours
""",
}


@pytest.mark.parametrize("form", TAKES)
def test_a_function_that_takes_what_is_passed_is_no_trouble(trouble: Trouble, form: str) -> None:
    assert trouble(OLD, NEW, HEAD + TAKES[form]) == []


@pytest.mark.parametrize("form", LACKS)
def test_a_function_that_lacks_the_new_parameter_is_told(trouble: Trouble, form: str) -> None:
    assert trouble(OLD, NEW, HEAD + LACKS[form]) == ["error sglang.srt.home:Check.handle"]
