"""How a method of the plugin handles what a contract's note on it is about."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sglang_contracts.contract.model import On
from sglang_contracts.plugin.ir.nodes import (
    Attr,
    Call,
    Foreign,
    Import,
    Item,
    Iter,
    Node,
    Param,
    PluginName,
    Slice,
    Unpack,
)
from sglang_contracts.plugin.ir.records import File, UseKind
from sglang_contracts.surface.model import Attribute
from sglang_contracts.verify.rules.clause_candidates import last
from sglang_contracts.verify.values.value import (
    Alternative,
    Builtin,
    DictValue,
    ListValue,
    ObjectOf,
    OwnObject,
    TupleValue,
)

if TYPE_CHECKING:
    from sglang_contracts.verify.rules.detection import Detection


def asks(state: Detection, index: int, number: int, on: On) -> bool:
    """Whether a function asks what the argument is before it uses it: it takes either form."""
    file = state.files[index]
    names = [each.name for each in file.functions[number].parameters]
    place = names.index(on.argument) if on.argument in names else on.position
    if on.argument not in names and place >= 0:
        place += names[:1] == ["self"]
    if place < 0:
        return False
    for use in file.uses:
        if use.function != number or use.kind not in (UseKind.PROBE, UseKind.READ):
            continue
        node = file.nodes[use.node]
        if type(node) is not Attr or file.nodes[node.base] != Param(number, place):
            continue
        if use.kind is UseKind.PROBE or state.guards.reach(index, use.guard, "attribute").caught:
            return True
    return False


def hands_on(file: File, number: int, on: On, around: bool = False) -> bool:
    """Whether a function gives back just what the one that it stands in for gives.

    That one it has from a hook (its first parameter), from the function around it (a decorator's
    argument), or kept beside it (``_original = Class.method``).

    Args:
        file: The plugin's file.
        number: The function.
        on: What it stands in for; a function that names the argument in question looks at it.
        around: Whether the hook hands it the original.
    """
    record, name = file.functions[number], last(on.symbol)
    if any(each.name == on.argument for each in record.parameters):
        return False

    def original(node: Node) -> bool:
        if type(node) is not Call:
            return False
        callee = file.nodes[node.callee]
        if type(callee) is Param:
            inner = callee.function == number
            return (around and callee.position == 0) if inner else True
        return isinstance(callee, (Attr, Import)) and callee.name == name

    return bool(record.returns) and all(original(file.nodes[each]) for each in record.returns)


def passes_on(file: File, number: int, name: str) -> bool:
    """Whether a function only hands an optional parameter on to what it calls."""
    for place, each in enumerate(file.functions[number].parameters):
        if each.name == name and each.has_default:
            mine = [at for at, node in enumerate(file.nodes) if node == Param(number, place)]
            return not any(
                node.base in mine
                for node in file.nodes
                if isinstance(node, (Attr, Item, Iter, Unpack, Slice))
            )
    return False


def is_of_type(state: Detection, index: int, node: int, on: On) -> bool:
    """Whether an argument is of one of the types of which nothing is to be said."""
    types = {last(each) for each in on.unless_type}
    evaluator = state.evaluator
    for each in evaluator.value(index, node).alternatives:
        if isinstance(each, (ObjectOf, OwnObject)):
            qual = each.symbol.qual if isinstance(each, ObjectOf) else each.qual
            if qual.rsplit(".", 1)[-1] in types:
                return True
        elif _builtin_kind(each) in on.unless_type:
            return True
    held = evaluator.files[index].nodes[node]
    if type(held) is Call:
        callee = evaluator.files[index].nodes[held.callee]
        if isinstance(callee, (Attr, Import, PluginName, Foreign)):
            return callee.name in types
    if type(held) is Attr:  # the release's own text says what it holds
        look = evaluator.members.look(evaluator.value(index, held.base), held.name)
        return any(
            types & set(re.findall(r"\w+", each.node.annotation))
            for each in look.found
            if isinstance(each.node, Attribute)
        )
    return False


def _builtin_kind(each: Alternative) -> str:
    """The name of the builtin type that an alternative is of; empty for any other."""
    if type(each) is Builtin:
        return each.kind
    if type(each) is ListValue:
        return "list"
    if type(each) is DictValue:
        return "dict"
    return "tuple" if type(each) is TupleValue else ""
