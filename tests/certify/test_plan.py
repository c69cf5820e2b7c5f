import pytest

from sglang_contracts.certify.plan import levels, planned


def test_the_plan_read_from_the_text_is_the_registry():
    pytest.importorskip("torch")
    from sglang_contracts.suite.registry import checks

    assert levels() == {each.id: each.level for each in checks()}


def test_a_plan_up_to_a_level_holds_the_levels_below():
    below, all_of_it = planned(1), planned(4)
    assert all_of_it[: len(below)] == below
    assert [levels()[each] for each in all_of_it] == sorted(levels().values())
