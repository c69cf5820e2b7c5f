from pathlib import Path

import pytest

from sglang_contracts.contract import load_contracts
from sglang_contracts.errors import ContractsError
from sglang_contracts.suite import registry
from sglang_contracts.suite.capabilities import documented
from sglang_contracts.suite.mutants import mutant_files
from sglang_contracts.suite.session import load_mutant

ROOT = Path(__file__).parents[2]
CHECKS = registry.checks()


def test_each_level_has_checks():
    assert {check.level for check in CHECKS} == set(registry.LEVELS) - {5}  # a server's own


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.id)
def test_a_check_says_what_must_hold_and_why(check):
    assert check.title
    assert check.why.endswith(".")
    assert not check.title.endswith(".")
    assert "TODO" not in check.title + check.why


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.id)
def test_a_check_needs_only_what_can_be_declared(check):
    for need in check.needs:
        assert need.startswith(("mode:", "pool:")) or need in documented()


def test_the_clauses_that_checks_come_from_exist():
    known = {clause.id for contract in load_contracts() for clause in contract.clauses}
    missing = [
        f"{check.id}: {clause}"
        for check in CHECKS
        for clause in check.clauses
        if clause not in known
    ]
    assert missing == []


def test_each_check_has_a_mutant_that_it_must_catch(mutants):
    named = {load_mutant(path).killed_by for path in mutant_files(mutants)}
    assert named == {check.id for check in CHECKS}


def test_there_are_at_least_fifty_mutants_and_no_two_of_a_name(mutants):
    names = [load_mutant(path).name for path in mutant_files(mutants)]
    assert len(names) >= 50
    assert len(names) == len(set(names))
    assert [name for name in names if "TODO" in name] == []


def test_an_unknown_check_is_answered_with_the_nearest():
    with pytest.raises(ContractsError, match=r"kv-pool.foreign-slots-untouched"):
        registry.find("kv-pool.foreign-slot-untouched")


def test_ids_are_of_one_form_and_unique():
    with pytest.raises(ValueError, match=r"family\.what-must-hold"):
        registry.check("no family", 1, "Nothing")
    with pytest.raises(ValueError, match="two checks"):
        registry.check(CHECKS[0].id, 1, "Nothing")(lambda context: None)


def test_the_documentation_lists_every_check_with_what_must_hold():
    text = (ROOT / "docs" / "certification.md").read_text(encoding="utf-8")
    for check in CHECKS:
        needs = ", ".join(f"`{need}`" for need in check.needs)
        assert f"| `{check.id}` | {check.title} | {needs} |" in text
