"""Notes on changes of meaning: each is told to the plugin it hits, and to no other.

A row of ``meanings.toml`` has two small plugins. The first stands on the old meaning and must be
told in the first release of the note, not in the last one before; the second does much the same, in
a way that the change does not touch, and must stay untold.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from sglang_contracts.contract import Contract, Range, load_contracts
from sglang_contracts.surface import Catalog, load_catalog
from sglang_contracts.verify import check_plugin

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


class Row(NamedTuple):
    """A note, and a plugin on either side of it."""

    clause: str
    hit: str
    silent: str


ROWS = [
    Row(**row)
    for row in tomllib.loads(Path(__file__).with_name("meanings.toml").read_text("utf-8"))["rows"]
]


class Told(NamedTuple):
    """What a note was said of, and when."""

    release: str
    file: str


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    """The releases that are recorded."""
    return load_catalog()


@pytest.fixture(scope="module")
def contracts() -> tuple[Contract, ...]:
    """The contracts that are shipped."""
    return load_contracts()


def _edge(clause: str, contracts: tuple[Contract, ...], catalog: Catalog) -> tuple[str, ...]:
    """The last release before a note, where there is one, and the first of it."""
    spans = {each.id: each.sglang for contract in contracts for each in contract.clauses}
    span = Range.of(spans[clause])
    first = next(at for at, each in enumerate(catalog.releases) if span.contains(each))
    return catalog.releases[max(first - 1, 0) : first + 1]


@pytest.mark.parametrize("row", ROWS, ids=[row.clause for row in ROWS])
def test_a_note_is_told_to_whom_it_hits(
    row: Row, tmp_path: Path, catalog: Catalog, contracts: tuple[Contract, ...]
) -> None:
    (tmp_path / "hit.py").write_text(row.hit)
    (tmp_path / "silent.py").write_text(row.silent)
    releases = _edge(row.clause, contracts, catalog)
    report = check_plugin(tmp_path, catalog, releases, contracts=contracts)
    told = {
        Told(entry.release, place.file)
        for entry in report.releases
        for finding in entry.findings
        if finding.clause == row.clause
        for place in finding.locations
    }
    assert told == {Told(releases[-1], "hit.py")}


def test_every_row_speaks_of_another_note() -> None:
    names = [row.clause for row in ROWS]
    assert sorted(set(names)) == sorted(names)
