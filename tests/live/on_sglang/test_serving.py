"""Level 5 on the installed release: a server as it is holds, and each defect is found."""

import pytest

from sglang_contracts.serving.registry import checks

COVERED = ("a leak of a megabyte a request",)
"""What the engines that run beside the server in a line may cover: found where this file runs
alone; the slope itself is held by ``tests/serving/test_soak_memory.py``."""


def test_a_server_of_the_reference_holds(level_five):
    wrong = {each.id: each.message for each in level_five.checks if each.outcome == "fail"}
    assert wrong == {}
    assert level_five.not_run == ()
    assert level_five.planned == tuple(each.id for each in checks())


def test_nothing_but_what_needs_another_server_is_skipped(level_five):
    skipped = {each.id for each in level_five.checks if each.outcome == "skip"}
    assert skipped == {"concurrency.equal-without-overlap"}


def test_answers_are_those_of_hugging_face(level_five):
    assert level_five.measured["largest difference of log-probabilities"] <= 0.02


def test_each_defect_is_found_by_the_check_that_fits(defects):
    missed = {
        name: each
        for name, each in defects.items()
        if each.outcome != "fail" and name not in COVERED
    }
    assert missed == {}
    crashed = {name: each.message for name, each in defects.items() if each.crash}
    assert crashed == {}
    assert len(defects) == 10


@pytest.mark.parametrize(
    ("defect", "said"),
    [
        ("answers swapped between two requests", "of request"),
        ("a step in latency at 512 tokens", "tokens of context"),
        ("an abort leaks slots", "in use by nobody"),
        ("a fall-back kernel for prefill", "torch.scaled_dot_product_attention"),
    ],
)
def test_what_is_said_of_it_tells_the_cause(defects, defect, said):
    assert said in defects[defect].message
