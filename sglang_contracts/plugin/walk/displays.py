"""Displays of tuples, lists, sets and mappings: their elements, and names that stand in them."""

from __future__ import annotations

import ast

from sglang_contracts.plugin.ir.nodes import UNKNOWN, DictOf, Dotted, Item, Iter, ListOf, TupleOf
from sglang_contracts.plugin.ir.records import UseKind
from sglang_contracts.plugin.walk import operands, string_constants, string_groups
from sglang_contracts.plugin.walk.operands import LONGEST
from sglang_contracts.plugin.walk.scope import DOTTED, IDENTIFIER
from sglang_contracts.plugin.walk.state import Walk


def tuple_value(walk: Walk, node: ast.Tuple) -> int:
    """The value of an ``ast.Tuple``."""
    pairs(walk, node)
    numbers = [each.value for each in node.elts if isinstance(each, ast.Constant)]
    version = len(numbers) == len(node.elts) <= LONGEST
    if version and all(type(each) is int for each in numbers):
        return operands.operand(walk, node)
    return walk.nodes.add(TupleOf(tuple(elements(walk, node))))


def list_value(walk: Walk, node: ast.List) -> int:
    """The value of an ``ast.List``."""
    pairs(walk, node)
    values = elements(walk, node)
    return walk.nodes.add(ListOf(UNKNOWN if UNKNOWN in values else walk.nodes.union(values)))


def elements(walk: Walk, node: ast.List | ast.Set | ast.Tuple) -> list[int]:
    """Values of a display; dotted strings in it are alternatives of one group."""
    texts = [
        each
        for each in node.elts
        if isinstance(each, ast.Constant)
        and isinstance(each.value, str)
        and DOTTED.match(each.value)
    ]
    before = len(walk.file.uses)
    values = []
    for each in node.elts:
        if isinstance(each, ast.Starred):
            value = walk.expr(each.value)
            values.append(walk.nodes.add(Iter(value)) if value else UNKNOWN)
        else:
            values.append(walk.expr(each))
    if len(texts) > 1 and not walk.quiet:
        string_groups.mark_group(walk, node, before)
        string_groups.same_thing(walk, node, texts)
    return values


def pairs(walk: Walk, node: ast.Tuple | ast.List) -> None:
    """``("sglang.srt.x", "name")``: a module and an attribute of it."""
    elements = node.elts
    if len(elements) < 2:
        return
    first, second = elements[0], elements[1]
    if not (isinstance(first, ast.Constant) and isinstance(second, ast.Constant)):
        if all(
            isinstance(each, (ast.Tuple, ast.List)) and len(each.elts) >= 2 for each in elements
        ):
            key = (node.lineno, node.col_offset)
            before = len(walk.file.uses)
            walk.groups.setdefault(key, len(walk.groups) + 1)
            del before
        return
    one, other = first.value, second.value
    if (
        isinstance(one, str)
        and isinstance(other, str)
        and DOTTED.match(one)
        and IDENTIFIER.match(other)
        and not other.startswith("sglang")
    ):
        walk.use(UseKind.DOTTED, walk.nodes.add(Dotted(f"{one}:{other}")), second)


def dict_value(walk: Walk, node: ast.Dict) -> int:
    """The value of an ``ast.Dict``."""
    values = []
    before = len(walk.file.uses)
    keys = 0
    for key, value in zip(node.keys, node.values, strict=True):
        if key is not None:
            walk.expr(key)
            texts = string_constants.texts(walk, key)
            if isinstance(value, ast.Dict) and texts and DOTTED.match(texts[0]):
                keys += 1
                for inner in value.keys:
                    if (isinstance(inner, ast.Constant) and isinstance(inner.value, str)) and (
                        IDENTIFIER.match(inner.value)
                    ):
                        walk.use(
                            UseKind.DOTTED,
                            walk.nodes.add(Dotted(f"{texts[0]}:{inner.value}")),
                            inner,
                        )
        held = walk.expr(value)
        if key is None and held:  # ``{**others}``: each of them
            held = walk.nodes.add(Item(held, None))
        values.append(held)
    del before
    return walk.nodes.add(DictOf(UNKNOWN if UNKNOWN in values else walk.nodes.union(values)))
