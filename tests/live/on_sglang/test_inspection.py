"""What was read out of the wheel is what Python imports."""

import sys

import pytest

from sglang_contracts.contract import load_contracts
from sglang_contracts.live import inspection, stand_in_module
from sglang_contracts.surface import load_catalog


@pytest.fixture(scope="module")
def surface(release):
    return load_catalog().surface(release)


@pytest.fixture(scope="module")
def modules(surface):
    """Every module that a contract speaks of, and all that these import."""
    wanted = {
        symbol.partition(":")[0]
        for contract in load_contracts()
        for clause in contract.clauses
        for symbol in (*clause.symbols, *clause.owner)
        if symbol.startswith("sglang.")
    }
    inspection.import_all(sorted(wanted & surface.module_names()))
    return sorted(surface.module_names() & set(sys.modules))


def test_recorded_signatures_and_fields_are_the_imported_ones(surface, modules):
    differences, compared = inspection.compare(surface, modules)
    assert differences == []
    assert compared > 2000


def test_a_wrong_record_is_noticed(surface, modules):
    """The comparison bites: the same modules against a neighbour's records differ."""
    releases = load_catalog().releases
    index = releases.index(surface.release)
    neighbour = load_catalog().surface(releases[index - 1 if index else 1])
    changed = [name for name in modules if surface.record_id(name) != neighbour.record_id(name)]
    differences, _ = inspection.compare(neighbour, changed)
    assert differences


def test_nothing_stood_in_for_was_called_while_importing(modules):
    assert modules
    assert stand_in_module.log.called == []
