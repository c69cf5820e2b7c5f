import pytest
from hypothesis import given
from hypothesis import strategies as st

from sglang_contracts.contract.dimensions import ShapeError, bind, dimension_names, unify
from sglang_contracts.contract.expression import ExpressionError


def test_a_shape_is_bound_from_an_environment():
    assert bind(["T", "Hq * Dv", "3"], {"T": 5, "Hq": 4, "Dv": 16}) == (5, 64, 3)


def test_a_name_without_a_value_is_named():
    with pytest.raises(ShapeError, match=r"dimension Dv has no value \(in 'Hq \* Dv'\)"):
        bind(["Hq * Dv"], {"Hq": 4})


def test_names_are_solved_whatever_the_order():
    assert unify(["Hq * Dv", "Hq"], (64, 4)) == {"Hq": 4, "Dv": 16}
    assert unify(["B + 1"], (3,)) == {"B": 2}
    assert unify(["S // P", "S"], (2, 35), {"P": 16}) == {"P": 16, "S": 35}


def test_what_a_division_leaves_open_is_not_guessed():
    assert unify(["S // P"], (2,), {"P": 16}) == {"P": 16}
    with pytest.raises(ShapeError, match="'S // P' = 1, found 2"):
        unify(["S // P", "S"], (2, 31), {"P": 16})


def test_any_number_of_axes_may_stand_between():
    assert unify(["B", "...", "D"], (2, 3, 4, 5)) == {"B": 2, "D": 5}
    assert unify(["..."], ()) == {}


@pytest.mark.parametrize(
    ("shape", "concrete", "message"),
    [
        (["B", "D"], (2,), r"1 axes \(2,\), expected 2 \[B, D\] with D=7"),
        (["B", "D"], (2, 8), r"shape \(2, 8\) is not \[B, D\]: 'D' = 7, found 8 with B=2, D=7"),
        (["2 * B"], (3,), r"'2 \* B', found 3"),
        (["B", "B"], (3, 4), r"'B' = 3, found 4"),
        (["...", "..."], (3, 4), "more than once"),
        (["B - 4"], (-9,), "found -9"),
    ],
)
def test_a_shape_that_does_not_fit_shows_both_shapes_and_every_binding(shape, concrete, message):
    with pytest.raises(ShapeError, match=message):
        unify(shape, concrete, {"D": 7})


@pytest.mark.parametrize(
    "text", ["len(x)", "B == 2", "'B'", "B.size", "B / 2", "True", "B if C else D"]
)
def test_what_is_no_dimension_is_refused(text):
    with pytest.raises(ExpressionError):
        dimension_names(text)


@given(st.integers(1, 50), st.integers(1, 50), st.integers(0, 9))
def test_unify_finds_what_bind_was_given(rows, factor, offset):
    shape = ["T", "T * 3 + 1", "H * T", "H + 9"]
    environment = {"T": rows, "H": factor + offset}
    assert unify(shape, bind(shape, environment)) == environment
