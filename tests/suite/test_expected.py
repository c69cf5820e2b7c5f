"""Expected failures: each must be able to happen, and none is silently without effect."""

import pytest

from sglang_contracts.errors import ContractsError
from sglang_contracts.plugin.reading.settings import ExpectedFailure
from sglang_contracts.suite.expected import applies, judged, refuse_idle
from sglang_contracts.suite.result import Result

CHECK = "attention-backend.decode-equals-the-oracle"


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        (ExpectedFailure("attention-backend.decode-equals-oracle", "known", line=7), "is no check"),
        (ExpectedFailure(CHECK, "known", releases=">=99", line=7), "none of the recorded ones is"),
    ],
)
def test_an_entry_that_can_never_apply_is_refused_with_its_place(entry, words):
    with pytest.raises(ContractsError, match=words) as caught:
        refuse_idle((entry,), "pyproject.toml")
    assert caught.value.message.startswith("pyproject.toml:7: ")
    assert caught.value.hint


def test_the_nearest_check_is_named():
    entry = ExpectedFailure("attention-backend.decode-equals-oracle", "known")
    with pytest.raises(ContractsError) as caught:
        refuse_idle((entry,), "pyproject.toml")
    assert CHECK in caught.value.hint


def test_an_entry_that_can_apply_is_taken():
    refuse_idle((ExpectedFailure(CHECK, "known", releases=">=0.5.20"),), "pyproject.toml")
    assert applies(ExpectedFailure(CHECK, "known", releases=">=0.5.20"), "0.5.21")
    assert not applies(ExpectedFailure(CHECK, "known", releases=">=0.5.20"), "0.5.9")


def test_one_on_a_skipped_check_is_said_to_have_no_effect():
    result = Result(CHECK, 3, "It holds", "skip", reason="not declared")
    found = judged(result, ExpectedFailure(CHECK, "known"))
    assert found.outcome == "skip"
    assert found.reason.startswith("not declared (")
    assert "no effect" in found.reason
