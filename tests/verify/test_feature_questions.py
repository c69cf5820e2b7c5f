"""Tables of a release: which keys they certainly lack."""

from __future__ import annotations

TABLES = """
SHARED = {{"b": 2}}

class Model:
    mapping = {}
"""
PLUGIN = """
from sglang.srt.tables import Model

def split():
    return Model.mapping["b"]
"""


def said(broken_by, mapping: str) -> list[str]:
    old, new = (
        {"srt/tables.py": TABLES.format(each)} for each in ("{'a': 1, 'b': 2, 'c': 3}", mapping)
    )
    return broken_by(old, new, PLUGIN)


def test_a_key_that_its_table_lost_is_told(broken_by):
    assert said(broken_by, "{'a': 1, 'c': 3}") == [
        'error registry-removed sglang.srt.tables:Model.mapping["b"]:5'
    ]


def test_a_table_that_takes_over_another_may_have_any_key(broken_by):
    assert not said(broken_by, "{'a': 1, **SHARED}")
