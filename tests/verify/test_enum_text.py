"""Enums that gain a text of their own, and plugins that spell the old one out."""

from __future__ import annotations

import pytest

ENUM = """
import enum

class Pool({base}):
    MAMBA = "mamba"
{more}
"""
STR = "    def __str__(self): return self.value"
PLUGIN = """
from sglang.srt.pools import Pool

NUMBERS = {{"{spelled}": 1}}

def number(pool: Pool):
    return NUMBERS[{text}]
"""
SAID = ["warning behaviour-changed sglang.srt.pools:Pool.__str__:7"]


def releases(base: str = "str, enum.Enum") -> tuple[dict[str, str], dict[str, str]]:
    return (
        {"srt/pools.py": ENUM.format(base=base, more="")},
        {"srt/pools.py": ENUM.format(base=base, more=STR)},
    )


@pytest.mark.parametrize(
    ("text", "base"), [("str(pool)", "str, enum.Enum"), ("f'{pool}'", "enum.Enum")]
)
def test_a_spelled_text_that_str_gives_no_more_is_told(broken_by, text, base):
    old, new = releases(base)
    assert broken_by(old, new, PLUGIN.format(spelled="Pool.MAMBA", text=text)) == SAID


@pytest.mark.parametrize(
    ("spelled", "text"),
    [
        ("mamba", "str(pool)"),  # nothing stands on the old text
        ("Other.MAMBA", "str(pool)"),
        ("Pool.MAMBA", "pool.value"),
        ("Pool.MAMBA", "f'{pool}'"),  # which text that was hangs on the Python
        ("Pool.MAMBA", "repr(pool)"),
    ],
)
def test_what_does_not_stand_on_the_text_is_fine(broken_by, spelled, text):
    assert not broken_by(*releases(), PLUGIN.format(spelled=spelled, text=text))
