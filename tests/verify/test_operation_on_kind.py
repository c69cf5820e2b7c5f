"""What is done with a value against its new type: elements that look something up."""

from __future__ import annotations

import pytest

ALLOC = """
import torch

def alloc(batch) -> tuple[torch.Tensor, {kind}]: return batch
"""
PLUGIN = """
from sglang.srt.alloc import alloc

def reserve(batch, reqs, table: dict, rows: list):
    slots, indices = alloc(batch)
    for req, row in zip(reqs, indices):
        {does}
"""


def said(broken_by, does: str) -> list[str]:
    old, new = ({"srt/alloc.py": ALLOC.format(kind=kind)} for kind in ("list[int]", "torch.Tensor"))
    return broken_by(old, new, PLUGIN.format(does=does))


@pytest.mark.parametrize(
    "does", ["table[row] = req", "req.use(table[row])", "table.get(row)", "row in table"]
)
def test_an_element_of_a_tensor_finds_nothing_in_a_mapping(broken_by, does):
    assert said(broken_by, does) == ["warning return-changed sglang.srt.alloc:alloc:7"]


@pytest.mark.parametrize("does", ["rows[row] = req", "table[int(row)] = req", "req.use(row)"])
def test_an_index_or_a_number_made_of_an_element_is_fine(broken_by, does):
    assert not said(broken_by, does)
