"""Values of nodes: every operation has been thought of, and alternatives are told apart."""

from __future__ import annotations

from typing import get_args

import pytest

from sglang_contracts.plugin.ir import nodes
from sglang_contracts.plugin.ir.nodes import Node
from sglang_contracts.surface.symbol import Symbol
from sglang_contracts.verify.values import value
from sglang_contracts.verify.values.evaluator import WORK
from sglang_contracts.verify.values.value import (
    NONE,
    NOTHING,
    Alternative,
    Builtin,
    ClassRef,
    ListValue,
    ObjectOf,
    OwnClassRef,
    OwnObject,
    Value,
    dict_of,
    list_of,
    one,
    tuple_of,
    union,
)

CONDITIONS = {nodes.Always, nodes.Never, nodes.Compare, nodes.Has, nodes.HasNamed, nodes.Takes}
CONDITIONS |= {nodes.Found, nodes.Registered, nodes.Not, nodes.And, nodes.Or, nodes.Went}
CONDITIONS |= {nodes.Truth}
WITHOUT_A_VALUE = {
    *(nodes.Unknown, nodes.Foreign, nodes.Partial),
    *(nodes.SglangVersion, nodes.ParsedVersion, nodes.ParsedSpecifier, nodes.VersionNumbers),
    *(nodes.ParsedInt, nodes.NamesOf, nodes.ParametersOf, nodes.Flag, nodes.Environment),
}
"""Operations of which no release makes anything that attributes could be read off."""
SYMBOL = Symbol("sglang.srt.batch", "Batch", "class")


def test_each_operation_is_worked_out_or_said_to_be_unknown():
    assert set(WORK) | CONDITIONS | WITHOUT_A_VALUE == set(get_args(Node))
    assert not set(WORK) & (CONDITIONS | WITHOUT_A_VALUE)


@pytest.mark.parametrize("kind", get_args(Alternative), ids=lambda each: each.__name__)
def test_an_alternative_cannot_change_and_says_what_it_is(kind):
    assert kind.__struct_config__.frozen
    assert kind.__doc__
    assert not hasattr(kind, "__getitem__")
    assert getattr(value, kind.__name__) is kind


def test_alternatives_that_hold_the_same_are_told_apart_by_what_they_are():
    assert OwnClassRef(0, "C") != OwnObject(0, "C")
    assert ClassRef(SYMBOL) != ObjectOf(SYMBOL, False)
    assert ObjectOf(SYMBOL, False) != ObjectOf(SYMBOL, None)


def test_one_of_several_is_unknown_if_one_of_them_is():
    first, second = one(Builtin("int")), Value((ClassRef(SYMBOL),), "batch")
    assert union([first, second, first]) == Value((Builtin("int"), ClassRef(SYMBOL)), "batch")
    assert union([first, NOTHING]) == NOTHING


def test_only_a_value_that_is_nothing_but_none_is_none():
    assert one(NONE).is_none()
    assert not Value((NONE, Builtin("int"))).is_none()
    assert not NOTHING.is_none()


def test_containers_know_what_they_hold():
    element = one(Builtin("int"))
    assert list_of(element) == one(ListValue(element))
    assert list_of(element) != dict_of(element)
    assert tuple_of([element]) != list_of(element)
