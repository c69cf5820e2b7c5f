"""A certificate whose digest is right, but whose verdict does not follow from its checks."""

import msgspec
import pytest

from sglang_contracts.certify import consistency, plan
from sglang_contracts.certify.certificate import sealed


@pytest.fixture
def whole(certificate):
    """One that failed, of a suite that plans exactly its checks."""
    checks = tuple(each for each in certificate.checks if each.outcome in ("pass", "fail"))
    return sealed(
        msgspec.structs.replace(
            certificate,
            checks=checks,
            planned=tuple(each.id for each in checks),
            not_run=(),
            level_asked=1,
            level_reached=0,
            mostly_skipped=(),
            not_exercised=(),
        )
    )


@pytest.fixture
def suite(whole, monkeypatch):
    monkeypatch.setattr(plan, "levels", lambda: {each.id: each.level for each in whole.checks})


def found(certificate, same_suite=True):
    return consistency.contradictions(sealed(certificate), same_suite)


def test_what_follows_from_its_checks_is_no_contradiction(whole, suite):
    assert found(whole) == []


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"verdict": "passed"}, "verdict: it says 'passed', from its checks follows 'failed'"),
        ({"verdict": "banana"}, "verdict: it says 'banana'"),
        ({"level_reached": 99}, "level reached: it says 99, from its checks follows 0"),
        ({"level_asked": 7}, "there is no level 7"),
        ({"mostly_skipped": (0,)}, "mostly skipped levels"),
        ({"level_asked": 2}, "declared and not exercised: it says (), from its checks follows"),
        ({"not_run": ("a.b",)}, "planned checks that did not run"),
        ({"planned": ("a.b",)}, "have an outcome that were not planned: a.c"),
    ],
)
def test_what_does_not_follow_is_told(whole, suite, change, words):
    assert any(words in each for each in found(msgspec.structs.replace(whole, **change)))


def test_checks_left_out_are_noticed_where_the_plan_is_known(whole, suite):
    less = msgspec.structs.replace(
        whole, checks=whole.checks[:1], planned=("a.b",), verdict="passed", level_reached=1
    )
    assert found(less, same_suite=False) == []
    assert found(less) == ["this suite plans 1 checks that it does not: a.c"]


def test_checks_moved_to_another_level_are_noticed(whole, suite):
    failed = msgspec.structs.replace(whole.checks[1], level=2)
    moved = msgspec.structs.replace(whole, checks=(whole.checks[0], failed), level_reached=1)
    assert any("at their levels: a.c" in each for each in found(moved))


def test_an_outcome_of_another_word_or_told_twice_is_noticed(whole, suite):
    odd = msgspec.structs.replace(whole.checks[0], outcome="splendid")
    changed = msgspec.structs.replace(whole, checks=(odd, *whole.checks))
    told = " ".join(found(changed))
    assert "there is no outcome 'splendid'" in told
    assert "stand in it twice: a.b" in told
