"""The contracts, held against batches, calls and classes of a real engine run."""

from sglang_contracts.contract import load_contracts
from sglang_contracts.live import evidence
from sglang_contracts.live.environments import PROJECT, SPREAD
from sglang_contracts.live.evidence import Status

FOLDER = PROJECT / "matrix" / "evidence"


def statuses(found):
    return {
        each.clause: each
        for contract in load_contracts()
        for each in evidence.confirm(contract, found)
    }


def test_nothing_that_the_contracts_state_is_contradicted(seen):
    wrong = {c.clause: c.detail for c in statuses(seen).values() if c.status is Status.CONTRADICTED}
    assert wrong == {}


def test_sglang_uses_nothing_of_the_plugins_objects_that_no_clause_lists(seen):
    assert evidence.unlisted(load_contracts(), seen) == {}


def test_what_the_committed_evidence_confirms_this_run_confirms_too(seen, release):
    file = FOLDER / f"{release}.json"
    if not file.exists():
        assert release not in SPREAD, (
            f"record it: SGLANG_CONTRACTS_RECORD=1 tox -e sglang-{release}"
        )
        return
    now = statuses(seen)
    lost = {
        name: (before.status.name, now[name].status.name)
        for name, before in statuses(evidence.load(file)).items()
        if now[name].status < before.status
    }
    assert lost == {}
