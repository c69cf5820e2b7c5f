"""A report says how much of what a plugin takes from SGLang could be told."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from sglang_contracts.report import Options, render
from sglang_contracts.surface import Catalog
from sglang_contracts.verify import check_plugin
from sglang_contracts.verify.findings.finding import Report

BATCH = "class Batch:\n    def __init__(self):\n        self.rows = 1\n        self.lost = 1\n"
PLUGIN = """
from sglang.srt.batch import Batch


def use(batch: Batch, forward_batch):
    return batch.rows + batch.lost + batch.rows
"""


@pytest.fixture
def checked(
    recorded: Callable[[Mapping[str, str], Mapping[str, str]], Catalog], tmp_path: Path
) -> Callable[[str], Report]:
    """Checks a plugin of one file against two releases, the newer of which lost an attribute."""
    new = BATCH.replace("        self.lost = 1\n", "")
    catalog = recorded({"srt/batch.py": BATCH}, {"srt/batch.py": new})

    def check(text: str) -> Report:
        (tmp_path / "plugin.py").write_text(text)
        return check_plugin(tmp_path, catalog, catalog.releases, contracts=())

    return check


def test_each_symbol_counts_once_found_or_gone(checked: Callable[[str], Report]) -> None:
    document = json.loads(render(checked(PLUGIN), "json"))
    assert [each["looked_at"] for each in document["releases"]] == [
        {"resolved": 3, "by_name": 0, "unresolved": 0}
    ] * 2


def test_what_nothing_can_be_said_of_counts_as_unresolved(checked: Callable[[str], Report]) -> None:
    text = PLUGIN + "\n\ndef more(batch: Batch):\n    return batch.never\n"
    document = json.loads(render(checked(text), "json"))
    assert document["releases"][1]["looked_at"]["unresolved"] == 1


def test_a_text_begins_with_it(checked: Callable[[str], Report]) -> None:
    first = render(checked(PLUGIN), "text").splitlines()[0]
    assert first.startswith("3 symbols of SGLang resolved in 0.5.2, 0 more by the name")
    assert "resolved" not in render(checked(PLUGIN), "text", Options(quiet=True))
