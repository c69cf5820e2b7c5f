import pytest

from sglang_contracts.verify.answers.spans import last_before, nearest, start

STATES = bytes([1, 0, 1, 1, 0])


@pytest.mark.parametrize(("at", "first"), [(0, 0), (2, 2), (3, 2)])
def test_a_state_began_where_it_last_had_been_another(at, first):
    assert start(STATES, at) == first


@pytest.mark.parametrize(("at", "last"), [(0, None), (1, 0), (2, 0), (4, 3)])
def test_the_last_before_is_never_the_release_itself(at, last):
    assert last_before(STATES, at) == last


@pytest.mark.parametrize(("at", "near"), [(0, 2), (1, 0), (4, 3)])
def test_the_nearest_is_before_where_there_is_one_and_else_after(at, near):
    assert nearest(STATES, at) == near


def test_there_may_be_none():
    assert nearest(bytes([0, 1, 0]), 1) is None


def test_the_very_next_is_near():
    assert nearest(bytes([0, 1]), 0) == 1
