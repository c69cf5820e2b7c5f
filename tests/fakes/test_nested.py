from collections import namedtuple

import pytest

torch = pytest.importorskip("torch")

from sglang_contracts.fakes.nested import mapped, tensors  # noqa: E402 - needs what was asked for

Pair = namedtuple("Pair", "first second")


def test_tensors_are_found_at_any_depth_in_order():
    one, two, three = (torch.full((1,), float(n)) for n in range(3))
    found = tensors(([one, 5], {"a": (two, None)}, Pair(three, "x")))
    assert [int(each) for each in found] == [0, 1, 2]


@pytest.mark.parametrize(
    "value", [[1, (2, None)], {"a": [3]}, Pair(4, 5), (), "text"], ids=lambda value: str(value)
)
def test_what_holds_no_tensor_comes_back_equal_and_of_its_kind(value):
    found = mapped(lambda tensor: 0, value)
    assert found == value
    assert type(found) is type(value)


def test_each_tensor_is_replaced_and_the_rest_kept():
    value = Pair([torch.ones(2)], {"k": (torch.ones(3), 7)})
    found = mapped(lambda tensor: tensor.numel(), value)
    assert found == Pair([2], {"k": (3, 7)})
    assert type(found) is Pair
