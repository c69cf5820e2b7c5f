"""The node table, and what is kept of it."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import msgspec
import pytest

from sglang_contracts.plugin.ir import nodes
from sglang_contracts.plugin.ir.node_table import Nodes
from sglang_contracts.plugin.ir.nodes import (
    UNKNOWN,
    Attr,
    Import,
    Item,
    Iter,
    ListOf,
    Node,
    OneOf,
    Operation,
    Slice,
    TupleOf,
    Unknown,
    Unpack,
)
from sglang_contracts.plugin.plugin import load_plugin

OPERATIONS = [
    each
    for each in vars(nodes).values()
    if isinstance(each, type) and issubclass(each, Operation) and each is not Operation
]


def test_each_operation_is_one_of_the_nodes_that_are_read_back():
    assert set(get_args(Node)) == set(OPERATIONS)


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda each: each.__name__)
def test_an_operation_cannot_change_and_says_what_it_stands_for(operation):
    config = operation.__struct_config__
    assert (config.frozen, config.array_like, config.gc) == (True, True, False)
    assert isinstance(config.tag, str)
    assert operation.__doc__
    # a field is read by its name, which a type checker sees, and never by its place
    assert not hasattr(operation, "__getitem__")
    assert not hasattr(operation, "__iter__")


def test_nodes_are_read_back_as_they_were_kept():
    held = [Unknown(), Import("sglang", ""), TupleOf((1, 2)), Item(1, None), Slice(2, None, 3)]
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(held), type=list[Node]) == held


def test_equal_expressions_are_one_node_and_operations_tell_them_apart():
    table = Nodes()
    first = table.add(Attr(1, "x"))
    assert table.add(Attr(1, "x")) == first
    assert table.add(Item(1, "x")) != first
    assert table.table[first] == Attr(1, "x")


def test_one_of_several_is_flat_and_one_of_too_many_unknown():
    table = Nodes()
    made = [table.add(Import("sglang", f"n{number}")) for number in range(13)]
    pair = table.union(made[1::-1])
    assert table.table[pair] == OneOf((made[0], made[1]))
    assert table.table[table.union([pair, made[2]])] == OneOf((made[0], made[1], made[2]))
    assert table.union([made[0], made[0]]) == made[0]
    assert table.union(made) == table.union([]) == UNKNOWN


def test_a_part_is_the_very_element_where_a_tuple_is_shown():
    table = Nodes()
    one, two = table.add(Import("sglang", "a")), table.add(Import("sglang", "b"))
    pair = table.add(TupleOf((one, two)))
    assert table.part(pair, 1, 2) == two
    assert table.part(table.add(Iter(table.add(ListOf(pair)))), 0, 2) == one
    assert table.table[table.part(pair, 0, 3)] == Unpack(pair, 0, 3)


@pytest.mark.parametrize(("index", "position"), [("True", 1), ("False", 0), ("2", 2)])
def test_an_index_that_is_a_truth_value_is_kept_as_the_number_it_is(
    tmp_path: Path, index: str, position: int
) -> None:
    (tmp_path / "plugin.py").write_text(
        f"from sglang.srt.server_args import ServerArgs\n\nx = ServerArgs.all()[{index}].name\n"
    )
    [file] = load_plugin(tmp_path).files
    assert file.problem == ""
    [held] = [each for each in file.nodes if isinstance(each, Unpack)]
    assert held.position == position
