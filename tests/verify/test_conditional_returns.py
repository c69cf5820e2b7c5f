"""A ``return`` that an unknown test decides about is one of several, not the one that counts."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from sglang_contracts.verify.findings.finding import Finding

CheckText = Callable[[str], dict[str, list[Finding]]]

UNKNOWN_TESTS = {
    "if": "        if self.config.everywhere:\n            return True\n",
    "else": (
        "        if self.config.here:\n            pass\n        else:\n            return True\n"
    ),
    "loop": "        for each in self.config.ranks:\n            return True\n",
    "while": "        while self.config.wait():\n            return True\n",
    "case": (
        "        match self.config.kind:\n            case 'all':\n                return True\n"
    ),
    "nested": (
        "        if self.config.on:\n            if self.config.everywhere:\n"
        "                return True\n"
    ),
}
PROFILER = """\
import sglang
class Profiler:
    def __init__(self, config):
        self.config, self.rank = config, config.rank
    def chosen(self):
{way}        return self.rank in self.config.ranks
    def start(self):
        if not self.chosen():
            {then}
        self.config.go()
"""


@pytest.mark.parametrize("way", UNKNOWN_TESTS)
def test_method_with_an_unknown_test_is_no_version_guard(check_text: CheckText, way: str) -> None:
    """``if not self.chosen(): return`` asks for no version, whatever it may return."""
    text = PROFILER.format(way=UNKNOWN_TESTS[way], then="return")
    assert not any(check_text(text).values())


@pytest.mark.parametrize("way", UNKNOWN_TESTS)
def test_code_behind_an_unknown_test_is_looked_at(check_text: CheckText, way: str) -> None:
    """What runs only where such a method says no is no dead code."""
    text = PROFILER.format(way=UNKNOWN_TESTS[way], then="from sglang.srt.names import Mover")
    assert [each.rule for each in check_text(text)["0.5.2"]] == ["symbol-moved"]


def test_method_that_never_varies_is_no_version_guard(check_text: CheckText) -> None:
    """A comparison of constants asks for no version either."""
    text = (
        "import sglang\n"
        "LEVEL = 3\n"
        "def verbose():\n    return LEVEL > 5\n"
        "if verbose():\n    SHOWN = True\n"
    )
    assert not any(check_text(text).values())


def test_function_that_compares_the_version_first_is_a_guard(check_text: CheckText) -> None:
    """The twin: where a version decides which ``return`` is come to, the branch is known."""
    text = (
        "from packaging.version import parse\n"
        "from sglang import __version__\n"
        "def is_new():\n"
        "    if parse(__version__) >= parse('0.5.2'):\n"
        "        return True\n"
        "    return False\n"
        "if is_new():\n"
        "    from sglang.srt.moved import Mover\n"
        "else:\n"
        "    from sglang.srt.names import Mover\n"
    )
    assert not any(check_text(text).values())


def test_branch_that_no_version_leads_to_is_still_told(check_text: CheckText) -> None:
    """The twin: a branch behind two bounds that exclude each other."""
    text = (
        "from packaging.version import parse\n"
        "from sglang import __version__\n"
        "def odd():\n"
        "    return parse(__version__) > parse('9') and parse(__version__) < parse('8')\n"
        "if odd():\n"
        "    OLD = True\n"
    )
    assert [each.rule for each in check_text(text)["0.5.2"]] == ["guard-wrong"]
