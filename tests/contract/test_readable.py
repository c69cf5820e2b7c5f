"""The shipped contracts can be read from the top: meaning first, and more meaning than bounds."""

import re
import sys
from pathlib import Path

import pytest
from packaging.version import Version

from sglang_contracts.contract import Contract, keys, load_contracts

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

FOLDER = Path(__file__).parents[2] / "contracts"
FILES = sorted(FOLDER.glob("*.toml"))
CONTRACTS = load_contracts(FOLDER)
ORDER = ("contract", "dims", "layouts", "behaviours", "obligations", "invariants")
SCREEN = 24
"""Lines of a terminal."""
BARE = frozenset(
    [
        *("id", "name", "symbol", "key", "of", "target", "known_as", "distinctive"),
        *("sglang", "type", "parameters"),
    ]
)
"""Keys that say which thing it is, in which releases, and how it is spelled: not what it means.
Types and signatures are copied from the releases, so they count for names."""
SYNTAX = re.compile(r'[\]}]+|"""')
"""Lines that say nothing: a list or a text ends."""


def lines(text: str) -> tuple[int, int]:
    """How many lines carry meaning, and how many there are, empty ones aside."""
    meaning = every = 0
    key = ""
    for line in text.splitlines():
        if not line.strip():
            continue
        every += 1
        if line.startswith("["):
            key = "id"  # [fields.x]: a name
        elif found := re.match(r"([\w.]+)\s*=", line):
            key = found[1].rpartition(".")[2]
        silent = SYNTAX.fullmatch(line.strip()) or line.startswith("#")
        meaning += not silent and key not in BARE
    return meaning, every


def test_at_least_half_of_all_lines_carry_meaning():
    counts = [lines(path.read_text(encoding="utf-8")) for path in FILES]
    meaning, every = (sum(column) for column in zip(*counts, strict=True))
    assert 2 * meaning >= every, f"{meaning} of {every} lines carry meaning: see the inventory"


def test_the_measure_takes_names_bounds_and_signatures_for_what_they_are():
    text = '[fields.x]\nsglang = ">=0.5.3"\nparameters = [\n  "a",\n]\n\n# no\n'
    assert lines(text) == (0, 6)
    assert lines(text + 'note = "a"\ndtype = "int64"\n') == (2, 8)
    assert lines('[behaviours.a]\non.symbol = "s"\non.role = "reader"\n') == (1, 3)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_name_with_bounds_alone_stands_in_the_inventory(path):
    raw = tomllib.loads(path.read_text(encoding="utf-8"))
    alone = []
    for section in keys.SECTIONS:
        for name, table in raw.get(section, {}).items():
            moves = table.get("replaced_by", [])
            told = any("note" in each for each in (moves if isinstance(moves, list) else [moves]))
            if not told and not keys.MEANING.intersection(table):
                alone.append(f"{section}.{name}")
    assert alone == []


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_meaning_stands_first(path):
    raw = list(tomllib.loads(path.read_text(encoding="utf-8")))
    first = [*ORDER, *keys.SECTIONS]
    ranks = [min(first.index(name), len(ORDER)) for name in raw]
    assert ranks == sorted(ranks)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_first_screen_says_what_it_is_for_and_what_changed_last(path):
    screen = "\n".join(path.read_text(encoding="utf-8").splitlines()[:SCREEN])
    head = tomllib.loads(path.read_text(encoding="utf-8"))["contract"]
    for key in ("title", "purpose", "last_change"):
        assert head[key].strip() in screen, key


@pytest.mark.parametrize("contract", CONTRACTS, ids=lambda contract: contract.id)
def test_what_changed_last_is_of_the_newest_release_that_changed_anything(contract):
    newest = max((Version(bound) for bound in bounds(contract)), default=None)
    said = contract.last_change.partition(":")[0]
    assert said == str(newest), f"say in {contract.file} what {newest} changed"


def bounds(contract: Contract) -> set[str]:
    """Every release at which a clause, a signature, a type or a replacement begins or ends."""
    found: set[str] = set()
    for clause in contract.clauses:
        ranges = [*clause.sglang]
        for each in (clause.dtype, clause.shape, clause.type, clause.parameters, clause.returns):
            ranges += [text for row in each for text in row.sglang]
        for text in ranges:
            found.update(re.findall(r"[<>=]+\s*([\w.]+)", text))
    return found
