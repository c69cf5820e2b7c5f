"""Calls of Python's own functions: what each of them gives, and what it asks or sets."""

from __future__ import annotations

import ast
from collections.abc import Callable

from sglang_contracts.plugin.ir.records import UNKNOWN, Form, UseKind
from sglang_contracts.plugin.walk import call_arguments as arguments
from sglang_contracts.plugin.walk import callbacks as handed
from sglang_contracts.plugin.walk import (
    conditions,
    name_membership,
    string_constants,
    version_comparisons,
)
from sglang_contracts.plugin.walk.scope import IDENTIFIER
from sglang_contracts.plugin.walk.state import Walk


def of_dict(walk: Walk, node: ast.Call) -> int | None:
    """``dict(a=…)``."""
    values = [walk.expr(arg) for arg in node.args]
    values += [walk.expr(keyword.value) for keyword in node.keywords]
    return walk.nodes.add("dict", UNKNOWN if UNKNOWN in values else walk.nodes.union(values))


def of_super(walk: Walk, node: ast.Call) -> int | None:
    """``super()``."""
    owner = walk.scope.owner
    if node.args:
        first = walk.expr(node.args[0])
        if first and walk.nodes.op(first) == "ownclass":
            owner = str(walk.nodes.table[first][1])
        else:
            return UNKNOWN
    return walk.nodes.add("super", owner) if owner else UNKNOWN


def of_type(walk: Walk, node: ast.Call) -> int | None:
    """``type(x)``."""
    if len(node.args) == 1:
        value = walk.expr(node.args[0])
        if value and walk.nodes.op(value) == "self":
            return walk.nodes.add("ownclass", walk.nodes.table[value][1])
        return walk.nodes.add("typeof", value) if value else UNKNOWN
    return None


def of_isinstance(walk: Walk, node: ast.Call) -> int | None:
    """Asks of what class its first argument is."""
    values = [walk.expr(arg) for arg in node.args]
    if len(values) == 2 and values[0]:
        asked = walk.nodes.add("attr", values[0], "__class__")
        walk.use(UseKind.PROBE, asked, node, name="class")
    return walk.nodes.literal("bool")


def of_callable(walk: Walk, node: ast.Call) -> int | None:
    """Its argument only."""
    for arg in node.args:
        walk.expr(arg)
    return walk.nodes.literal("bool")


def of_hasattr(walk: Walk, node: ast.Call) -> int | None:
    """Asks; never fails."""
    if len(node.args) != 2:
        return None
    base = name_membership.subject(walk, node.args[0])
    names = string_constants.texts(walk, node.args[1])
    handed.named_by_parameter(walk, node.args[1], base, UseKind.PROBE)
    for name in names:
        if name != "*":
            walk.mention(name)
            if base:
                walk.use(UseKind.PROBE, walk.nodes.add("attr", base, name), node, name="has")
    return conditions.condition(walk, node) or walk.nodes.literal("bool")


def of_getattr(walk: Walk, node: ast.Call) -> int | None:
    """With a default it asks; without, it reads."""
    if len(node.args) < 2:
        return None
    base = name_membership.subject(walk, node.args[0])
    default = walk.expr(node.args[2]) if len(node.args) > 2 else UNKNOWN
    if any(
        version_comparisons.version_attribute(walk, base, name)
        for name in string_constants.texts(walk, node.args[1])
    ):
        return walk.nodes.add("version")
    names = string_constants.texts(walk, node.args[1])
    handed.named_by_parameter(
        walk, node.args[1], base, UseKind.READ if len(node.args) == 2 else UseKind.PROBE
    )
    if base == UNKNOWN:
        return UNKNOWN
    found = []
    for name in names:
        if name == "*":
            return UNKNOWN
        walk.mention(name)
        value = walk.nodes.add("attr", base, name)
        found.append(value)
        if len(node.args) > 2:
            walk.use(UseKind.PROBE, value, node, name="get", value=default)
        elif IDENTIFIER.match(name):
            guard = walk.guard
            has = walk.nodes.add("has", base, name)
            if len(names) > 1 and asked_for(walk, has):
                guard = walk.where(guard, kind="if", condition=has, line=node.lineno)
            with walk.under(guard):
                walk.use(UseKind.READ, value, node)
    value = walk.nodes.union(found)
    if len(node.args) > 2:
        return walk.nodes.add("probe", value, default)
    return value


def asked_for(walk: Walk, has: int) -> bool:
    """Whether ``hasattr`` over several names, this among them, guards what stands here."""
    guard = walk.guard
    while guard:
        record = walk.file.guards[guard]
        node, positive = record.condition, record.positive
        while record.kind == "if" and walk.nodes.op(node) == "not":
            node, positive = walk.nodes.table[node][1], not positive
        if record.kind == "if" and positive and has in walk.nodes.table[node][1:]:
            return walk.nodes.op(node) == "or"
        guard = record.parent
    return False


def of_setattr(walk: Walk, node: ast.Call) -> int | None:
    """An assignment in other words."""
    if len(node.args) != 3:
        return None
    base = walk.expr(node.args[0])
    value = walk.expr(node.args[2])
    handed.named_by_parameter(walk, node.args[1], base, UseKind.WRITE, value)
    for name in string_constants.texts(walk, node.args[1]):
        if name == "*" or not base:
            continue
        walk.mention(name)
        walk.defined.add(name)
        if walk.nodes.op(base) in ("self", "ownclass"):
            walk.keep(str(walk.nodes.table[base][1]), name, value, node.lineno)
        walk.use(UseKind.WRITE, walk.nodes.add("attr", base, name), node, value=value)
    if "*" in string_constants.texts(walk, node.args[1]) and base and walk.nodes.op(base) == "self":
        record = walk.file.classes.get(str(walk.nodes.table[base][1]))
        if record is not None:
            record.open = True
    return UNKNOWN


def of_property(walk: Walk, node: ast.Call) -> int | None:
    """``property(f)``, ``staticmethod(f)``: what is assigned is still ``f``."""
    values = [walk.expr(arg) for arg in node.args]
    return walk.nodes.add("wrapped", "property", values[0]) if values else UNKNOWN


def of_staticmethod(walk: Walk, node: ast.Call) -> int | None:
    """See :func:`of_property`."""
    values = [walk.expr(arg) for arg in node.args]
    return walk.nodes.add("wrapped", "static", values[0]) if values else UNKNOWN


def of_classmethod(walk: Walk, node: ast.Call) -> int | None:
    """See :func:`of_property`."""
    values = [walk.expr(arg) for arg in node.args]
    return walk.nodes.add("wrapped", "class", values[0]) if values else UNKNOWN


def of_len(walk: Walk, node: ast.Call) -> int | None:
    """How many there are."""
    values = [walk.expr(arg) for arg in node.args]
    for value in values[:1]:
        walk.needs(node, value, "series")
    return walk.nodes.literal("int")


def of_str(walk: Walk, node: ast.Call) -> int | None:
    """The text of its argument; a call as any other."""
    if len(node.args) == 1:
        with walk.silently():
            value = walk.expr(node.args[0])
        walk.spelled(node, value, "text")
    return None


def of_next(walk: Walk, node: ast.Call) -> int | None:
    """An element."""
    values = [walk.expr(arg) for arg in node.args]
    if values and values[0]:
        return walk.nodes.add("iter", values[0])
    return UNKNOWN


def of_list(walk: Walk, node: ast.Call) -> int | None:
    """A container of the same elements."""
    numbers = version_comparisons.numbers(walk, node)
    if numbers:
        return numbers
    handed.by_key(walk, node, node.args[0] if node.args else None)
    values = [walk.expr(arg) for arg in node.args]
    if values and values[0]:
        return walk.nodes.add("list", walk.nodes.add("iter", values[0]))
    return walk.nodes.literal("list")


def of_max(walk: Walk, node: ast.Call) -> int | None:
    """One of the elements."""
    values = [walk.expr(arg) for arg in node.args]
    handed.by_key(walk, node, node.args[0] if len(node.args) == 1 else None)
    if len(values) == 1 and values[0]:
        return walk.nodes.add("iter", values[0])
    return UNKNOWN


def of_filter(walk: Walk, node: ast.Call) -> int | None:
    """The same elements, fewer of them."""
    values = [walk.expr(arg) for arg in node.args]
    if len(values) != 2:
        return UNKNOWN
    handed.given_elements(walk, node.args[0], node.args[1])
    return walk.nodes.add("list", walk.nodes.add("iter", values[1])) if values[1] else UNKNOWN


def of_map(walk: Walk, node: ast.Call) -> int | None:
    """What a function makes of each element."""
    numbers = version_comparisons.numbers(walk, node)
    if numbers:
        return numbers
    for arg in node.args:
        walk.expr(arg)
    if len(node.args) == 2:
        handed.given_elements(walk, node.args[0], node.args[1])
        with walk.silently():
            callee, values = walk.expr(node.args[0]), walk.expr(node.args[1])
        if values and walk.nodes.op(callee) in ("ownfunc", "own"):
            element = walk.nodes.add("iter", values)
            form = arguments.keep_form(walk, Form([element], [""]))
            made = walk.nodes.add("call", callee, form)
            walk.use(UseKind.CALL, made, node)
            return walk.nodes.add("list", made)
    return UNKNOWN


def of_enumerate(walk: Walk, node: ast.Call) -> int | None:
    """Pairs of a number and an element."""
    values = [walk.expr(arg) for arg in node.args]
    if not values or not values[0]:
        return UNKNOWN
    pair = walk.nodes.add("tuple", walk.nodes.literal("int"), walk.nodes.add("iter", values[0]))
    return walk.nodes.add("list", pair)


def of_zip(walk: Walk, node: ast.Call) -> int | None:
    """Tuples of elements."""
    values = [walk.expr(arg) for arg in node.args]
    for keyword in node.keywords:
        walk.expr(keyword.value)
    parts = [walk.nodes.add("iter", value) if value else UNKNOWN for value in values]
    return walk.nodes.add("list", walk.nodes.add("tuple", *parts))


BUILTIN_CALLS: dict[str, Callable[[Walk, ast.Call], int | None]] = {
    "dict": of_dict,
    "super": of_super,
    "type": of_type,
    "isinstance": of_isinstance,
    "issubclass": of_isinstance,
    "callable": of_callable,
    "hasattr": of_hasattr,
    "getattr": of_getattr,
    "setattr": of_setattr,
    "property": of_property,
    "staticmethod": of_staticmethod,
    "classmethod": of_classmethod,
    "len": of_len,
    "str": of_str,
    "next": of_next,
    "list": of_list,
    "tuple": of_list,
    "set": of_list,
    "sorted": of_list,
    "reversed": of_list,
    "iter": of_list,
    "max": of_max,
    "min": of_max,
    "filter": of_filter,
    "map": of_map,
    "enumerate": of_enumerate,
    "zip": of_zip,
}
"""Name → what a call of it gives; None: nothing special, as any call."""
