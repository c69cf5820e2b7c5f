"""Answers that hang on each other: worked out once, and never kept where they were cut short."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from sglang_contracts.verify.answers.memory import Underway
from sglang_contracts.verify.findings.finding import Finding
from sglang_contracts.verify.values.evaluator import Evaluator
from sglang_contracts.verify.values.value import NOTHING, Builtin, Value, one, tuple_of

CheckText = Callable[[str], dict[str, list[Finding]]]

HEAD = "from sglang.srt.batch import Batch\n\ndef f0(x):\n    return x\n\n"
MANY = 24
LIMIT = 5_000
NESTS = {
    "each returns a pair of the other's": "".join(
        f"def f{n}(x):\n    return f{n - 1}(x), f{n - 1}(x)\n\n" for n in range(1, MANY)
    )
    + f"def use(b: Batch):\n    f{MANY - 1}(b)[0].lost_field\n",
    "each returns one of all": "".join(
        f"def f{n}(x):\n"
        + "".join(f"    if x.kept:\n        return f{m}(x)\n" for m in range(1, MANY) if m != n)
        for n in range(1, MANY)
    )
    + "def use(b: Batch):\n    f1(b).lost_field\n",
    "each attribute hangs on others": "class C:\n    def __init__(self, u):\n"
    + "".join(
        f"        self.a{n} = self.a{(n + 1) % MANY} or self.a{(n + 7) % MANY}\n"
        for n in range(MANY)
    )
    + "    def use(self):\n        self.a0.lost_field\n",
}


@pytest.mark.parametrize("nest", NESTS)
def test_work_grows_with_the_text(
    nest: str, check_text: CheckText, monkeypatch: pytest.MonkeyPatch
) -> None:
    count = 0
    work = Evaluator._work

    def counted(self: Evaluator, *node: object) -> Value:
        nonlocal count
        count += 1
        if count > LIMIT:
            raise AssertionError(f"more than {LIMIT} nodes are worked out")
        return work(self, *node)  # type: ignore[arg-type]

    monkeypatch.setattr(Evaluator, "_work", counted)
    check_text(HEAD + NESTS[nest])
    assert count


def test_a_container_of_very_many_is_unknown() -> None:
    value = one(Builtin("int"))
    levels = []
    for _ in range(40):
        value = tuple_of((value, value))
        levels.append(value)
    assert NOTHING not in levels[:5]
    assert NOTHING in levels[5:8]


def test_what_was_cut_short_is_asked_again_once_what_cut_it_is_done() -> None:
    underway = Underway()
    top = underway.begin("top")
    inner = underway.begin("inner")
    assert underway.cut("top", deepest=9)
    above = underway.end("inner", inner)
    assert above == 0
    underway.wait("inner", above, {"seen"})
    assert underway.meanwhile("inner") == {"seen"}
    assert underway.end("top", top) is None
    assert underway.meanwhile("inner") is None


def test_who_asks_for_what_was_cut_short_is_cut_short_as_well() -> None:
    underway = Underway()
    underway.begin("top")
    middle = underway.begin("middle")
    inner = underway.begin("inner")
    underway.cut("top", deepest=9)
    above = underway.end("inner", inner)
    assert above is not None
    underway.wait("inner", above, ())
    assert underway.end("middle", middle) == 0
    other = underway.begin("other")
    underway.meanwhile("inner")
    assert underway.end("other", other) == 0


def test_an_answer_that_asks_for_itself_is_whole() -> None:
    underway = Underway()
    underway.begin("top")
    inner = underway.begin("inner")
    assert underway.cut("inner", deepest=9)
    assert underway.end("inner", inner) is None


def test_what_is_too_far_down_is_asked_again_when_all_is_done() -> None:
    underway = Underway()
    outers = [underway.begin(n) for n in range(3)]
    assert not underway.cut("far", deepest=3)
    assert underway.cut("far", deepest=2)
    assert [underway.end(n, outers[n]) for n in (2, 1, 0)] == [0, 0, None]
