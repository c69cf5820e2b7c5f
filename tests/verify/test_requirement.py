"""The requirement admits nothing that is not compatible, and says it as pip reads it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.requirements import Requirement

from sglang_contracts.verify.commands.requirement import (
    MAX_EXCLUDED,
    describe,
    intervals,
    requirement,
)
from sglang_contracts.verify.findings.finding import Verdict

RELEASES = (
    "0.5.2", "0.5.3", "0.5.3.post1", "0.5.4", "0.5.4.post1", "0.5.4.post2", "0.5.5",
    "0.5.12", "0.5.12.post1", "0.5.13", "0.5.13.post1", "0.5.14", "0.5.23",
)  # fmt: skip


def verdicts(*compatible, unknown=()):
    table = dict.fromkeys(RELEASES, Verdict.BROKEN)
    table |= dict.fromkeys(unknown, Verdict.UNKNOWN)
    return table | dict.fromkeys(compatible, Verdict.COMPATIBLE)


def between(first, last, *without):
    inside = RELEASES[RELEASES.index(first) : RELEASES.index(last) + 1]
    return [release for release in inside if release not in without]


@pytest.mark.parametrize(
    ("compatible", "expected"),
    [
        (between("0.5.3", "0.5.12.post1", "0.5.4.post1"), ">=0.5.3,!=0.5.4.post1,<0.5.13"),
        (between("0.5.3", "0.5.12"), ">=0.5.3,<0.5.12.post1"),
        (between("0.5.3.post1", "0.5.3.post1"), ">=0.5.3.post1,<0.5.4"),
        (between("0.5.13", "0.5.23"), ">=0.5.13,<=0.5.23"),
        (between("0.5.4.post1", "0.5.5", "0.5.4.post2"), ">=0.5.4.post1,!=0.5.4.post2,<0.5.12"),
        (["0.5.2", "0.5.23"], ">=0.5.23,<=0.5.23"),
        (between("0.5.4", "0.5.5", "0.5.4.post1"), ">=0.5.4,!=0.5.4.post1,<0.5.12"),
        (between("0.5.2", "0.5.5", "0.5.4"), ">=0.5.2,!=0.5.4,<0.5.12"),
    ],
)
def test_the_requirement_to_paste(compatible, expected):
    assert requirement(verdicts(*compatible)) == f"sglang{expected}"


def test_nothing_compatible_gives_no_requirement():
    assert requirement(verdicts()) is None
    assert requirement({}) is None


def test_unknown_is_never_compatible():
    table = verdicts(*between("0.5.3", "0.5.5"), unknown=["0.5.4.post1", "0.5.12"])
    table["0.5.4.post1"] = Verdict.UNKNOWN
    assert requirement(table) == "sglang>=0.5.3,!=0.5.4.post1,<0.5.12"


def test_ranges_are_told_in_words():
    runs = intervals(verdicts("0.5.2", "0.5.4", "0.5.4.post1", "0.5.23"))
    assert describe(runs) == ["0.5.2", "0.5.4 ... 0.5.4.post1", "0.5.23"]
    assert [run.before for run in runs] == ["0.5.3", "0.5.4.post2", None]


@given(st.lists(st.sampled_from(list(Verdict)), min_size=len(RELEASES), max_size=len(RELEASES)))
def test_pip_admits_only_what_is_compatible(drawn):
    table = dict(zip(RELEASES, drawn, strict=True))
    text = requirement(table)
    compatible = [release for release, verdict in table.items() if verdict is Verdict.COMPATIBLE]
    if not compatible:
        assert text is None
        return
    specifier = Requirement(text).specifier
    admitted = [release for release in RELEASES if specifier.contains(release)]
    assert set(admitted) <= set(compatible)
    assert compatible[-1] in admitted
    inside = RELEASES[RELEASES.index(compatible[0]) : RELEASES.index(compatible[-1])]
    if sum(release not in compatible for release in inside) <= MAX_EXCLUDED:
        assert admitted == compatible
    assert text.count("!=") <= MAX_EXCLUDED
