"""What stands behind a test for a registry's key: looked at, or not, for a reason."""

from __future__ import annotations

from collections.abc import Callable

import pytest

TABLES = """
TABLE = {"alpha": 1, "beta": 2}
CHOICES = ["alpha", "beta"]

class Batch:
    def __init__(self):
        self.kept = 1
        self.lost: int = 2
"""
TABLES_AFTER = (
    TABLES.replace(', "beta": 2', "")
    .replace(', "beta"]', "]")
    .replace("        self.lost: int = 2\n", "")
)
READ = "error field-removed sglang.srt.tables:Batch.lost"
KEY = 'error registry-removed sglang.srt.tables:TABLE["beta"]'

Broken = Callable[..., list[str]]


def told(broken_by: Broken, body: str) -> list[str]:
    """What the change of the tables breaks in a function that works on a batch."""
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    plugin = f"from sglang.srt.tables import CHOICES, TABLE, Batch\ndef f(b: Batch, name):\n{lines}"
    return broken_by({"srt/tables.py": TABLES}, {"srt/tables.py": TABLES_AFTER}, plugin)


@pytest.mark.parametrize(
    "test",
    [
        'assert "own" in TABLE',
        'assert "own" in CHOICES, "not there"',
        'if "own" not in TABLE: raise ValueError("not there")',
        'if not ("own" in TABLE and "alpha" in TABLE): raise ValueError("not there")',
        'if "own" not in CHOICES: return None',
        "assert name in TABLE",
        "if name not in TABLE: raise ValueError(name)",
    ],
)
def test_what_follows_a_test_for_a_key_of_the_plugins_own_is_looked_at(
    broken_by: Broken, test: str
) -> None:
    assert told(broken_by, f"{test}\nreturn b.lost") == [f"{READ}:4"]


def test_what_stands_under_a_test_for_a_key_of_the_plugins_own_is_looked_at(
    broken_by: Broken,
) -> None:
    assert told(broken_by, 'if "own" in CHOICES:\n    return b.lost') == [f"{READ}:4"]


@pytest.mark.parametrize(
    "test",
    [
        'assert "beta" in TABLE',
        'if "beta" not in TABLE: raise ValueError("not there")',
        'if not ("alpha" in TABLE and "beta" in TABLE): raise ValueError("not there")',
        'assert "alpha" in TABLE and "beta" in TABLE',
    ],
)
def test_a_key_that_code_insists_on_does_not_hide_what_follows(
    broken_by: Broken, test: str
) -> None:
    assert told(broken_by, f"{test}\nreturn b.lost") == [f"{KEY}:3", f"{READ}:4"]


@pytest.mark.parametrize(
    "body",
    [
        'if "beta" not in TABLE: return None\nreturn b.lost',
        'if "beta" in TABLE:\n    return b.lost\nreturn b.kept',
        'if "beta" not in CHOICES:\n    return b.kept\nreturn b.lost',
        'assert "alpha" in TABLE\nreturn b.kept',
    ],
)
def test_what_a_lost_key_keeps_from_running_is_left_alone(broken_by: Broken, body: str) -> None:
    assert told(broken_by, body) == []
