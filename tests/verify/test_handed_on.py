"""A wrapper that hands on what the original gives departs from nothing."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from sglang_contracts.verify.findings.finding import Finding

HEAD = """
import functools
from sglang.srt.loop import Crate
"""

HANDS_ON = {
    "from a hook": """
def around(original, self, *args):
    print(args)
    return original(self, *args)
register_hook("sglang.srt.loop.Crate.lift", around, "around")
""",
    "by a name": """
def around(original, *args, **kwargs):
    result = original(*args, **kwargs)
    print(result)
    return result
register_hook("sglang.srt.loop.Crate.lift", around, "around")
""",
    "kept beside it": """
_original = Crate.lift
def lift(self):
    return _original(self)
Crate.lift = lift
""",
    "kept and timed": """
_o = Crate.lift
def _timed(self, *a, **k):
    r = _o(self, *a, **k)
    print(1)
    return r
Crate.lift = _timed
""",
    "from a decorator": """
def traced(function):
    @functools.wraps(function)
    def inner(self, *args):
        try:
            return function(self, *args)
        except RuntimeError:
            raise
    return inner
Crate.lift = traced(Crate.lift)
""",
    "from the base": """
class Own(Crate):
    def lift(self):
        result = super().lift()
        print(result)
        return result
""",
}
DEPARTS = {
    "from a hook": """
def around(original, self, *args):
    original(self, *args)
    return 3
register_hook("sglang.srt.loop.Crate.lift", around, "around")
""",
    "changes the result": """
_original = Crate.lift
def lift(self):
    return _original(self) + 1
Crate.lift = lift
""",
    "in some cases": """
_original = Crate.lift
def lift(self):
    if self:
        return _original(self)
    return 1
Crate.lift = lift
""",
    "another function": """
def lift(self):
    return len(self)
Crate.lift = lift
""",
    "from the base": """
class Own(Crate):
    def lift(self):
        super().lift()
        return 1
""",
}

CheckText = Callable[[str], dict[str, list[Finding]]]


@pytest.mark.parametrize("form", HANDS_ON)
def test_what_hands_on_the_originals_result_is_no_trouble(check_text: CheckText, form: str) -> None:
    assert check_text(HEAD + HANDS_ON[form]) == {"0.5.1": [], "0.5.2": []}


@pytest.mark.parametrize("form", DEPARTS)
def test_what_gives_another_result_is_told(check_text: CheckText, form: str) -> None:
    found = check_text(HEAD + DEPARTS[form])
    assert [each.rule for each in found["0.5.2"]] == ["behaviour-changed"]
