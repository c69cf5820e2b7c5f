"""Calls of Python's own functions: what each of them gives, and what it asks or sets."""

from __future__ import annotations

import ast
from collections.abc import Callable

from sglang_contracts.plugin.ir.nodes import (
    UNKNOWN,
    Attr,
    Call,
    DictOf,
    Has,
    Iter,
    ListOf,
    LocalClass,
    LocalFunction,
    PluginName,
    Probe,
    Self,
    SglangVersion,
    Super,
    TupleOf,
    TypeOf,
    Wrapped,
)
from sglang_contracts.plugin.ir.records import Form, UseKind
from sglang_contracts.plugin.walk import call_arguments as arguments
from sglang_contracts.plugin.walk import callbacks as handed
from sglang_contracts.plugin.walk import (
    conditions,
    keys,
    name_membership,
    named_by_variables,
    string_constants,
    version_comparisons,
)
from sglang_contracts.plugin.walk.scope import IDENTIFIER
from sglang_contracts.plugin.walk.state import Walk


def of_dict(walk: Walk, node: ast.Call) -> int | None:
    """``dict(a=…)``."""
    values = [walk.expr(arg) for arg in node.args]
    values += [walk.expr(keyword.value) for keyword in node.keywords]
    return walk.nodes.add(DictOf(UNKNOWN if UNKNOWN in values else walk.nodes.union(values)))


def of_super(walk: Walk, node: ast.Call) -> int | None:
    """``super()``."""
    owner = walk.scope.owner
    if node.args:
        first = walk.expr(node.args[0])
        held = walk.nodes.table[first]
        if type(held) is not LocalClass:
            return UNKNOWN
        owner = held.qual
    return walk.nodes.add(Super(owner)) if owner else UNKNOWN


def of_type(walk: Walk, node: ast.Call) -> int | None:
    """``type(x)``."""
    if len(node.args) == 1:
        value = walk.expr(node.args[0])
        held = walk.nodes.table[value]
        if type(held) is Self:
            return walk.nodes.add(LocalClass(held.qual))
        return walk.nodes.add(TypeOf(value)) if value else UNKNOWN
    return None


def of_isinstance(walk: Walk, node: ast.Call) -> int | None:
    """Asks of what class its first argument is."""
    values = [walk.expr(arg) for arg in node.args]
    if len(values) == 2 and values[0]:
        asked = walk.nodes.add(Attr(values[0], "__class__"))
        walk.use(UseKind.PROBE, asked, node, name="class")
    return conditions.condition(walk, node) or walk.nodes.literal("bool")


def of_callable(walk: Walk, node: ast.Call) -> int | None:
    """An answer: whether its argument is there, or true; see :func:`of_all`."""
    for arg in node.args:
        walk.expr(arg)
    if any(isinstance(part, ast.GeneratorExp) for part in ast.walk(node)):
        return walk.nodes.literal("bool")
    return conditions.condition(walk, node) or walk.nodes.literal("bool")


def of_all(walk: Walk, node: ast.Call) -> int | None:
    """An answer, where the elements are plainly there; each call in them would be walked twice."""
    for arg in node.args:
        walk.expr(arg)
    match node.args:
        case [ast.GeneratorExp(generators=[only])] if not any(
            isinstance(part, (ast.Call, ast.GeneratorExp)) for part in ast.walk(only.iter)
        ):
            return conditions.condition(walk, node) or walk.nodes.literal("bool")
    return walk.nodes.literal("bool")


def of_hasattr(walk: Walk, node: ast.Call) -> int | None:
    """Asks; never fails."""
    if len(node.args) != 2:
        return None
    base = name_membership.subject(walk, node.args[0])
    names = string_constants.texts(walk, node.args[1])
    named_by_variables.named_by_parameter(walk, node.args[1], base, UseKind.PROBE)
    for name in names:
        if name != "*":
            walk.mention(name)
            if base:
                walk.use(UseKind.PROBE, walk.nodes.add(Attr(base, name)), node, name="has")
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
        return walk.nodes.add(SglangVersion())
    names = string_constants.texts(walk, node.args[1])
    named_by_variables.named_by_parameter(
        walk, node.args[1], base, UseKind.READ if len(node.args) == 2 else UseKind.PROBE
    )
    if base == UNKNOWN:
        return UNKNOWN
    found = []
    for name in names:
        if name == "*":
            return UNKNOWN
        walk.mention(name)
        value = walk.nodes.add(Attr(base, name))
        found.append(value)
        if len(node.args) > 2:
            walk.use(UseKind.PROBE, value, node, name="get", value=default)
        elif IDENTIFIER.match(name):
            guard = walk.guard
            has = walk.nodes.add(Has(base, name))
            if len(names) > 1 and keys.asked_for(walk, has):
                guard = walk.where(guard, kind="if", condition=has, line=node.lineno)
            of_class = walk.nodes.table[base]
            if type(of_class) is TypeOf:  # what the class of an object has the object has
                value = walk.nodes.add(Attr(of_class.base, name))
            with walk.under(guard):
                walk.use(UseKind.READ, value, node)
    value = walk.nodes.union(found)
    if len(node.args) > 2:
        return walk.nodes.add(Probe(value, default))
    return value


def of_setattr(walk: Walk, node: ast.Call) -> int | None:
    """An assignment in other words."""
    if len(node.args) != 3:
        return None
    base = walk.expr(node.args[0])
    held = walk.nodes.table[base]
    value = walk.expr(node.args[2])
    if named_by_variables.set_by_rows(walk, node, base):
        return UNKNOWN
    named_by_variables.named_by_parameter(walk, node.args[1], base, UseKind.WRITE, value)
    for name in string_constants.texts(walk, node.args[1]):
        if name == "*" and not walk.quiet and not isinstance(held, (Self, LocalClass)):
            walk.file.computed.append((base, node.lineno))
        if name == "*" or not base:
            continue
        walk.mention(name)
        walk.defined.add(name)
        if isinstance(held, (Self, LocalClass)):
            walk.keep(held.qual, name, value, node.lineno)
        walk.use(UseKind.WRITE, walk.nodes.add(Attr(base, name)), node, value=value)
    if type(held) is Self and "*" in string_constants.texts(walk, node.args[1]):
        record = walk.file.classes.get(held.qual)
        if record is not None:
            record.open = True
    return UNKNOWN


def of_property(walk: Walk, node: ast.Call) -> int | None:
    """``property(f)``, ``staticmethod(f)``: what is assigned is still ``f``."""
    values = [walk.expr(arg) for arg in node.args]
    return walk.nodes.add(Wrapped("property", values[0])) if values else UNKNOWN


def of_staticmethod(walk: Walk, node: ast.Call) -> int | None:
    """See :func:`of_property`."""
    values = [walk.expr(arg) for arg in node.args]
    return walk.nodes.add(Wrapped("static", values[0])) if values else UNKNOWN


def of_classmethod(walk: Walk, node: ast.Call) -> int | None:
    """See :func:`of_property`."""
    values = [walk.expr(arg) for arg in node.args]
    return walk.nodes.add(Wrapped("class", values[0])) if values else UNKNOWN


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


def of_vars(walk: Walk, node: ast.Call) -> int | None:
    """The attributes that an object keeps; a call as any other."""
    if len(node.args) == 1:
        with walk.silently():
            value = name_membership.subject(walk, node.args[0])
        walk.use(UseKind.NEED, value, node, name="vars")
    return None


def of_next(walk: Walk, node: ast.Call) -> int | None:
    """An element."""
    values = [walk.expr(arg) for arg in node.args]
    if values and values[0]:
        return walk.nodes.add(Iter(values[0]))
    return UNKNOWN


def of_list(walk: Walk, node: ast.Call) -> int | None:
    """A container of the same elements."""
    numbers = version_comparisons.numbers(walk, node)
    if numbers:
        return numbers
    listed = name_membership.listed(walk, node)
    if listed:
        for arg in node.args:
            walk.expr(arg)
        return listed
    handed.by_key(walk, node, node.args[0] if node.args else None)
    values = [walk.expr(arg) for arg in node.args]
    if values and values[0]:
        return walk.nodes.add(ListOf(walk.nodes.add(Iter(values[0]))))
    return walk.nodes.literal("list")


def of_max(walk: Walk, node: ast.Call) -> int | None:
    """One of the elements."""
    values = [walk.expr(arg) for arg in node.args]
    handed.by_key(walk, node, node.args[0] if len(node.args) == 1 else None)
    if len(values) == 1 and values[0]:
        return walk.nodes.add(Iter(values[0]))
    return UNKNOWN


def of_filter(walk: Walk, node: ast.Call) -> int | None:
    """The same elements, fewer of them."""
    values = [walk.expr(arg) for arg in node.args]
    if len(values) != 2:
        return UNKNOWN
    handed.given_elements(walk, node.args[0], node.args[1])
    return walk.nodes.add(ListOf(walk.nodes.add(Iter(values[1])))) if values[1] else UNKNOWN


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
        if values and isinstance(walk.nodes.table[callee], (LocalFunction, PluginName)):
            element = walk.nodes.add(Iter(values))
            form = arguments.keep_form(walk, Form([element], [""]))
            made = walk.nodes.add(Call(callee, form))
            walk.use(UseKind.CALL, made, node)
            return walk.nodes.add(ListOf(made))
    return UNKNOWN


def of_enumerate(walk: Walk, node: ast.Call) -> int | None:
    """Pairs of a number and an element."""
    values = [walk.expr(arg) for arg in node.args]
    if not values or not values[0]:
        return UNKNOWN
    pair = walk.nodes.add(TupleOf((walk.nodes.literal("int"), walk.nodes.add(Iter(values[0])))))
    return walk.nodes.add(ListOf(pair))


def of_zip(walk: Walk, node: ast.Call) -> int | None:
    """Tuples of elements."""
    values = [walk.expr(arg) for arg in node.args]
    for keyword in node.keywords:
        walk.expr(keyword.value)
    parts = [walk.nodes.add(Iter(value)) if value else UNKNOWN for value in values]
    return walk.nodes.add(ListOf(walk.nodes.add(TupleOf(tuple(parts)))))


BUILTIN_CALLS: dict[str, Callable[[Walk, ast.Call], int | None]] = {
    "dict": of_dict,
    "super": of_super,
    "type": of_type,
    "isinstance": of_isinstance,
    "issubclass": of_isinstance,
    "callable": of_callable,
    "bool": of_callable,
    "all": of_all,
    "any": of_all,
    "hasattr": of_hasattr,
    "getattr": of_getattr,
    "setattr": of_setattr,
    "property": of_property,
    "staticmethod": of_staticmethod,
    "classmethod": of_classmethod,
    "len": of_len,
    "str": of_str,
    "vars": of_vars,
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
