"""A clause that code cites is there: what runs on releases and what differs between them."""

import re

import pytest

from sglang_contracts.contract import load_contracts
from sglang_contracts.live.environments import PROJECT

ROOTS = (PROJECT / "sglang_contracts" / "live", PROJECT / "kunlun_backend" / "src")
FILES = sorted(file for root in ROOTS for file in root.rglob("*.py"))
CONTRACTS = load_contracts()
KNOWN = {clause.id for contract in CONTRACTS for clause in contract.clauses}
NAME = r"[\w.:-]*\w"
SAID = re.compile(rf"[Cc]lauses?[ \n#]+`*([\w-]+/{NAME})")
NAMED = re.compile(rf"(?<![\w/.-])((?:{'|'.join(c.id for c in CONTRACTS)})/{NAME})")


def cited(text):
    """What follows the word *clause*, and whatever begins with a contract's id and a slash."""
    return {found.rstrip(".:") for pattern in (SAID, NAMED) for found in pattern.findall(text)}


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(PROJECT)))
def test_every_cited_clause_exists(file):
    assert cited(file.read_text(encoding="utf-8")) - KNOWN == set()


def test_the_differences_of_both_sides_cite_clauses():
    for name in ("differences.py", "compat.py", "register.py"):
        (file,) = [file for file in FILES if file.name == name]
        assert cited(file.read_text(encoding="utf-8")) & KNOWN


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Clause `utils/support_triton`: a list", {"utils/support_triton"}),
        ("(clause\n    # ``kv-pool-mha/gone``)", {"kv-pool-mha/gone"}),
        ("accepted in every release (kv-pool-mha/nothing.at:all).", {"kv-pool-mha/nothing.at:all"}),
        ("the clause of a contract and/or another", set()),
    ],
)
def test_citations_are_found(text, found):
    assert cited(text) == found
