"""Expressions: the value of each, and the uses in it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sglang_contracts.plugin.ir.nodes import (
    UNKNOWN,
    Attr,
    Dotted,
    Foreign,
    Has,
    Import,
    Item,
    Known,
    ListOf,
    Literal,
    LocalFunction,
    Not,
    ParametersOf,
    Select,
    SglangVersion,
    Slice,
    Unpack,
)
from sglang_contracts.plugin.ir.records import UseKind
from sglang_contracts.plugin.walk import call_arguments as arguments
from sglang_contracts.plugin.walk import (
    calls,
    comprehensions,
    conditions,
    containers,
    definitions,
    displays,
    keys,
    name_membership,
    string_constants,
    version_comparisons,
)
from sglang_contracts.plugin.walk import except_clauses as guards
from sglang_contracts.plugin.walk.conditions import ANSWERS
from sglang_contracts.plugin.walk.scope import BUILTINS, DOTTED, IDENTIFIER, dotted_name
from sglang_contracts.plugin.walk.state import Walk

_ARITHMETIC = (ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Pow, ast.LShift, ast.RShift)
_ORDERS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
_OF_NUMBERS = (ast.Sub, ast.Div, ast.FloorDiv, ast.Pow, ast.LShift, ast.RShift, ast.BitAnd)
"""What a tuple, a list or a mapping takes no part in."""


def name_value(walk: Walk, node: ast.Name) -> int:
    """The value of an ``ast.Name``."""
    if not walk.quiet:
        walk.mention(node.id)
    value = walk.scope.find(node.id)
    if value is not None:
        return containers.kept(walk, node.id, value) if node.id in walk.global_names() else value
    if node.id in BUILTINS:
        return UNKNOWN
    stars = [module for module in walk.file.stars if module.startswith(":")]
    if len(stars) == 1 and len(walk.file.stars) == 1:
        found = walk.nodes.add(Import(stars[0][1:], node.id))
        walk.use(UseKind.IMPORT, found, node)
        return found
    return UNKNOWN


def constant_value(walk: Walk, node: ast.Constant) -> int:
    """The value of an ``ast.Constant``."""
    value = node.value
    if isinstance(value, bool):
        return walk.nodes.literal("true" if value else "false")
    if value is None:
        return walk.nodes.literal("None")
    if isinstance(value, str):
        if 1 < len(value) <= 80 and not walk.quiet:
            walk.strings.add(value)
        if DOTTED.match(value) and id(node) not in walk.docs:
            walk.use(UseKind.DOTTED, walk.nodes.add(Dotted(value)), node)
        return walk.nodes.literal("str")
    if isinstance(value, int):
        return walk.nodes.literal("int")
    return walk.nodes.literal("float") if isinstance(value, float) else UNKNOWN


def joined_str_value(walk: Walk, node: ast.JoinedStr) -> int:
    """The value of an ``ast.JoinedStr``."""
    for part in node.values:
        if isinstance(part, ast.FormattedValue):
            value = walk.expr(part.value)
            if part.conversion in (-1, ord("s")):
                walk.spelled(node, value, "format" if part.conversion < 0 else "text")
    for text in string_constants.texts(walk, node):
        if DOTTED.match(text):
            walk.use(UseKind.DOTTED, walk.nodes.add(Dotted(text)), node)
    return walk.nodes.literal("str")


def attribute_value(walk: Walk, node: ast.Attribute) -> int:
    """The value of an ``ast.Attribute``."""
    walk.mention(node.attr)
    walk.used_at_once(node.value)
    listed = name_membership.listed(walk, node)
    if listed:
        if node.attr in ("__dict__", "__dataclass_fields__", "__struct_fields__"):
            with walk.silently():
                held_by = walk.expr(node.value)
            if held_by:
                walk.use(UseKind.READ, walk.nodes.add(Attr(held_by, node.attr)), node)
        return listed
    key = dotted_name(node)
    if key and key in walk.scope.narrowed:
        narrowed = walk.scope.narrowed[key]
        base = walk.expr(node.value)
        if base:
            walk.use(UseKind.READ, walk.nodes.add(Attr(base, node.attr)), node)
        return narrowed
    base = walk.expr(node.value)
    if base == UNKNOWN:
        name = guards.last_name(node.value)
        if not name or name in BUILTINS or name in ("self", "cls"):
            return UNKNOWN
        base = walk.nodes.add(Known(name))
    held = walk.nodes.table[base]
    if type(held) is Foreign:
        return walk.nodes.add(Foreign(held.module, node.attr))
    if type(held) is ParametersOf:
        return base
    if version_comparisons.is_version(walk, base):
        return walk.nodes.add(Attr(base, node.attr))
    if version_comparisons.version_attribute(walk, base, node.attr):
        return walk.nodes.add(SglangVersion())
    value = walk.nodes.add(Attr(base, node.attr))
    walk.use(UseKind.READ, value, node)
    return value


def await_value(walk: Walk, node: ast.Await) -> int:
    """The value of an ``ast.Await``."""
    walk.awaiting[id(node.value)] = 1
    return walk.expr(node.value)


def starred_value(walk: Walk, node: ast.Starred) -> int:
    """The value of an ``ast.Starred``."""
    walk.expr(node.value)
    return UNKNOWN


def named_expr_value(walk: Walk, node: ast.NamedExpr) -> int:
    """The value of an ``ast.NamedExpr``."""
    value = walk.expr(node.value)
    walk.bind(node.target.id, value)
    return value


def subscript_value(walk: Walk, node: ast.Subscript) -> int:
    """The value of an ``ast.Subscript``."""
    walk.used_at_once(node.value)
    base = walk.expr(node.value)
    key = walk.expr(node.slice)
    walk.keyed(node, key, base)
    held = of_namespace(walk, node)
    if held:
        return held
    if base == UNKNOWN:
        return UNKNOWN
    texts = string_constants.texts(walk, node.slice)
    if len(texts) == 1 and isinstance(node.value, ast.Name):
        kept = arguments.known_keys(walk, node.value.id).get(texts[0], UNKNOWN)
        if kept and conditions.decided(walk, kept):
            return kept  # an answer kept in a table of answers
    if texts == ["*"] and isinstance(node.ctx, ast.Load):
        keys.by_parameter(walk, node.slice, base)
    if len(texts) > 1 and "*" not in texts:
        keys.entries(walk, node, base, texts)
    if len(texts) == 1 and texts[0] != "*":
        walk.use(UseKind.ITEM, base, node, name=texts[0])
        if walk.nodes.table[base] == Literal("sys.modules") and DOTTED.match(texts[0]):
            return walk.nodes.add(Dotted(texts[0]))
        return walk.nodes.add(Item(base, texts[0]))
    if isinstance(node.slice, ast.Slice):
        return sliced(walk, base, node.slice)
    if isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, int):
        if isinstance(node.ctx, ast.Load):
            walk.needs(node, base, "index")
        return walk.nodes.add(Unpack(base, int(node.slice.value), -1))
    return walk.nodes.add(Item(base, None))


def of_namespace(walk: Walk, node: ast.Subscript) -> int:
    """``vars(Class)["name"]``, ``Class.__dict__["name"]``: an attribute in other words."""
    match node.value:
        case ast.Attribute(value=inner, attr="__dict__"):
            pass
        case ast.Call(func=ast.Name(id="vars"), args=[inner]):
            pass
        case _:
            return UNKNOWN
    texts = string_constants.texts(walk, node.slice)
    with walk.silently():
        base = walk.expr(inner)
    if not base or len(texts) != 1 or not IDENTIFIER.match(texts[0]):
        return UNKNOWN
    value = walk.nodes.add(Attr(base, texts[0]))
    walk.mention(texts[0])
    walk.use(UseKind.READ if isinstance(node.ctx, ast.Load) else UseKind.WRITE, value, node)
    return value


def sliced(walk: Walk, base: int, cut: ast.Slice) -> int:
    """A part of a sequence, by constant bounds where it matters which."""
    bounds: list[int | None] = []
    for each in (cut.lower, cut.upper):
        if each is None:
            bounds.append(None)
        elif isinstance(each, ast.Constant) and (each.value is None or type(each.value) is int):
            bounds.append(each.value)
        else:
            return base
    return base if cut.step is not None else walk.nodes.add(Slice(base, bounds[0], bounds[1]))


def if_exp_value(walk: Walk, node: ast.IfExp) -> int:
    """The value of an ``ast.IfExp``."""
    condition = conditions.condition(walk, node.test)
    walk.expr(node.test)
    state = walk.state
    if condition:
        yes = walk.where(
            walk.guard,
            kind="if",
            condition=condition,
            line=node.lineno,
            way_out=not guards.is_flag(node.orelse) or True,
        )
        no = walk.where(
            walk.guard, kind="if", condition=condition, positive=False, line=node.lineno
        )
        saved = dict(walk.scope.names)
        with walk.under(yes):
            one = walk.expr(node.body)
        walk.scope.names, walk.state = dict(saved), state
        with walk.under(no):
            other = walk.expr(node.orelse)
        walk.scope.names, walk.state = saved, state
        return walk.nodes.add(Select(condition, one, other))
    saved = dict(walk.scope.names)
    narrowed = dict(walk.scope.narrowed)
    conditions.narrow(walk, node.test, True)
    one = walk.expr(node.body)
    walk.scope.names, walk.scope.narrowed = dict(saved), dict(narrowed)
    walk.state = state
    conditions.narrow(walk, node.test, False)
    other = walk.expr(node.orelse)
    walk.scope.names, walk.scope.narrowed, walk.state = saved, narrowed, state
    none = walk.nodes.literal("None")
    if other == none or (one and containers.is_empty(walk, node.orelse)):
        return one
    if one == none or (other and containers.is_empty(walk, node.body)):
        return other
    return walk.both(one, other)


def bool_op_value(walk: Walk, node: ast.BoolOp) -> int:
    """The value of an ``ast.BoolOp``."""
    outer, state = walk.guard, walk.state
    saved, narrowed = dict(walk.scope.names), dict(walk.scope.narrowed)
    values = []
    positive = isinstance(node.op, ast.And)
    for each in node.values:
        values.append(walk.expr(each))
        condition = conditions.condition(walk, each)
        if condition:
            walk.guard = walk.where(
                walk.guard,
                kind="if",
                condition=condition,
                positive=positive,
                line=node.lineno,
            )
        conditions.narrow(walk, each, positive)
    walk.guard = outer
    walk.scope.names, walk.scope.narrowed, walk.state = saved, narrowed, state
    if all(answers(walk, value) for value in values):
        return conditions.condition(walk, node)
    if positive:
        return values[-1]
    none = walk.nodes.literal("None")
    kept = [
        value
        for value, source in zip(values, node.values, strict=True)
        if value != none and not (value and containers.is_empty(walk, source))
    ]
    return UNKNOWN if UNKNOWN in kept else walk.nodes.union(kept)


def answers(walk: Walk, value: int) -> bool:
    """Whether a value is an answer about the release, or a plain yes or no."""
    held = walk.nodes.table[value]
    return type(held) in ANSWERS or (type(held) is Literal and held.kind in ("true", "false"))


def unary_op_value(walk: Walk, node: ast.UnaryOp) -> int:
    """The value of an ``ast.UnaryOp``."""
    value = walk.expr(node.operand)
    if isinstance(node.op, ast.Not):
        condition = conditions.condition(walk, node)
        return condition or walk.nodes.literal("bool")
    return value if value and type(walk.nodes.table[value]) is Literal else UNKNOWN


def bin_op_value(walk: Walk, node: ast.BinOp) -> int:
    """The value of an ``ast.BinOp``."""
    values = [walk.expr(node.left), walk.expr(node.right)]
    if isinstance(node.op, _ARITHMETIC):
        needs_number(walk, node, values)
    if isinstance(node.op, _OF_NUMBERS):
        for value in values:
            walk.needs(node, value, "arithmetic")
    if isinstance(node.op, ast.Add) and any(is_list(walk, each) for each in values):
        for value in values:
            walk.needs(node, value, "join")
        return containers.joined(walk, node, values)
    return walk.nodes.literal("number")


def is_list(walk: Walk, value: int) -> bool:
    """Whether a value is evidently a list of the plugin's own: ``[a]``, ``list(x)``."""
    held = walk.nodes.table[containers.shown(walk, value)]
    return type(held) is ListOf or held == Literal("list")


def needs_number(walk: Walk, node: ast.expr, values: Sequence[int]) -> None:
    """Fields that something is done with which a number takes, and nothing does not."""
    for value in values:
        if type(walk.nodes.table[value]) is Attr:
            walk.use(UseKind.NEED, value, node, name="number")


def compare_value(walk: Walk, node: ast.Compare) -> int:
    """The value of an ``ast.Compare``."""
    values = [walk.expr(each) for each in (node.left, *node.comparators)]
    if all(isinstance(each, _ORDERS) for each in node.ops):
        needs_number(walk, node, values)
    if isinstance(node.ops[0], (ast.In, ast.NotIn)):
        walk.keyed(node, values[0], values[1])
    condition = conditions.condition(walk, node)
    if condition:
        asked(walk, condition, node)
        return condition
    return walk.nodes.literal("bool")


def asked(walk: Walk, condition: int, node: ast.Compare) -> None:
    """``"name" in dir(x)`` asks, as ``hasattr`` does."""
    held = walk.nodes.table[condition]
    if type(held) is Not:
        held = walk.nodes.table[held.condition]
    if type(held) is Has and isinstance(node.ops[0], (ast.In, ast.NotIn)):
        walk.use(UseKind.PROBE, walk.nodes.add(Attr(held.base, held.name)), node, name="has")


def lambda_value(walk: Walk, node: ast.Lambda) -> int:
    """The value of an ``ast.Lambda``."""
    index = walk.lambdas.get(id(node))
    if index is None:
        index = walk.lambdas[id(node)] = definitions.signature(
            walk, node, node.args, "<lambda>", "", ""
        )
    return walk.nodes.add(LocalFunction(index))


def yield_value(walk: Walk, node: ast.Yield) -> int:
    """The value of an ``ast.Yield``."""
    value = walk.expr(node.value) if node.value is not None else UNKNOWN
    if walk.scope.function >= 0:
        record = walk.file.functions[walk.scope.function]
        record.is_generator = True
        record.yields.append(value)
    return UNKNOWN


def yield_from_value(walk: Walk, node: ast.YieldFrom) -> int:
    """The value of an ``ast.YieldFrom``."""
    walk.expr(node.value)
    if walk.scope.function >= 0:
        walk.file.functions[walk.scope.function].is_generator = True
    return UNKNOWN


EXPRESSIONS: Mapping[type[ast.expr], Callable[[Walk, Any], int]] = {
    ast.Name: name_value,
    ast.Constant: constant_value,
    ast.JoinedStr: joined_str_value,
    ast.Attribute: attribute_value,
    ast.Await: await_value,
    ast.Starred: starred_value,
    ast.NamedExpr: named_expr_value,
    ast.Subscript: subscript_value,
    ast.IfExp: if_exp_value,
    ast.BoolOp: bool_op_value,
    ast.UnaryOp: unary_op_value,
    ast.BinOp: bin_op_value,
    ast.Compare: compare_value,
    ast.Tuple: displays.tuple_value,
    ast.List: displays.list_value,
    ast.Set: displays.list_value,
    ast.Dict: displays.dict_value,
    ast.Lambda: lambda_value,
    ast.ListComp: comprehensions.list_comp_value,
    ast.SetComp: comprehensions.list_comp_value,
    ast.GeneratorExp: comprehensions.list_comp_value,
    ast.DictComp: comprehensions.dict_comp_value,
    ast.Yield: yield_value,
    ast.YieldFrom: yield_from_value,
    ast.Call: calls.call_value,
}
"""Kind of expression → what gives its value and records its uses."""
