import pytest

from sglang_contracts.certify import run
from sglang_contracts.certify.plan import levels, planned


def test_the_plan_read_from_the_text_is_the_registry():
    pytest.importorskip("torch")
    from sglang_contracts.serving import registry as serving
    from sglang_contracts.suite import registry as suite

    of_suite = {each.id: each.level for each in suite.checks()}
    of_serving = {each.id: 5 for each in serving.checks()}
    assert levels() == of_suite | of_serving


def test_a_plan_up_to_a_level_holds_the_levels_below():
    below, all_of_it = planned(1), planned(5)
    assert all_of_it[: len(below)] == below
    assert [levels()[each] for each in all_of_it] == sorted(levels().values())


def test_processes_share_what_takes_longer_than_their_start(monkeypatch):
    monkeypatch.setattr(run.os, "sched_getaffinity", lambda _: range(16), raising=False)
    orders = [
        (("p", "fake:0.5.16", 4), {}, 4),
        (("p", "fake:0.5.16", 2), {}, 4),
        (("p", "fake:0.5.16", 1), {}, 1),
        (("p", "0.5.16", 4), {}, 1),
        (("p", "fake:0.5.16", 1), {"jobs": 3}, 3),
    ]
    for given, more, wanted in orders:
        assert run._jobs(run.Order(*given, **more)) == wanted
