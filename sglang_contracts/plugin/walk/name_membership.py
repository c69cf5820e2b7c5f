"""``"name" in …``: what something has, asked of the names it lists."""

from __future__ import annotations

import ast

from sglang_contracts.plugin.ir.nodes import (
    UNKNOWN,
    Attr,
    Dotted,
    Found,
    Has,
    Import,
    Known,
    NamesOf,
    Or,
    ParametersOf,
    Registered,
    Takes,
    Tried,
    Truth,
)
from sglang_contracts.plugin.walk import except_clauses as guards
from sglang_contracts.plugin.walk import string_constants
from sglang_contracts.plugin.walk.scope import BUILTINS, DOTTED
from sglang_contracts.plugin.walk.state import Walk

_TABLES = frozenset(
    {
        "__dict__",
        "__annotations__",
        "__dataclass_fields__",
        "__struct_fields__",
        "__slots__",
        "__members__",
        "_fields",
        "_member_names_",
        "_member_map_",
        "model_fields",
    }
)
"""Attributes that list the names of what they are read off."""
_LISTING = frozenset({"dir", "vars", "fields", "get_type_hints", "getmembers", "asdict"})
"""Functions that list the names of their first argument."""
_SIGNATURES = frozenset({"signature", "getfullargspec", "getargspec"})
_PARAMETERS = frozenset({"parameters", "args", "kwonlyargs", "co_varnames"})
_SCOPES = frozenset({"globals", "locals", "dir", "vars"})
"""Functions that list, without an argument, the names that are bound."""
_COPIES = frozenset({"list", "tuple", "set", "frozenset", "sorted", "dict"})


def member_of(walk: Walk, name: ast.expr, container: ast.expr) -> int:
    """The condition ``name in container``; 0 where no release decides it."""
    texts = string_constants.texts(walk, name)
    if "*" in texts:
        return UNKNOWN
    if isinstance(container, ast.Call) and not container.args and len(texts) == 1:
        return bound(walk, texts[0]) if guards.last_name(container.func) in _SCOPES else UNKNOWN
    names = listing(walk, container)
    held = walk.nodes.table[names]
    asked: list[int]
    if type(held) is NamesOf:
        asked = [walk.nodes.add(Has(held.base, text)) for text in texts]
    elif type(held) is ParametersOf:
        asked = [walk.nodes.add(Takes(held.function, text)) for text in texts]
    else:
        base = walk.expr(container)
        if not isinstance(walk.nodes.table[base], (Import, Attr)):
            return UNKNOWN
        asked = [walk.nodes.add(Registered(base, text)) for text in texts]
    return asked[0] if len(asked) == 1 else walk.nodes.add(Or(tuple(asked)))


def bound(walk: Walk, name: str) -> int:
    """``"name" in globals()``: whether an attempt before has bound it."""
    value = walk.scope.find(name)
    if value is None or type(walk.nodes.table[value]) is not Tried:
        return UNKNOWN
    return walk.nodes.add(Truth(value))


def listed(walk: Walk, node: ast.expr) -> int:
    """The node of a list of names that an expression evidently is; 0 for any other."""
    with walk.silently():
        return listing(walk, node)


def listing(walk: Walk, node: ast.expr, depth: int = 0) -> int:
    """``dir(x)``, ``x.__dict__``, ``signature(f).parameters``: the node of such a list."""
    if depth > 4:
        return UNKNOWN
    match node:
        case ast.Name():
            value = walk.expr(node)
            return value if value and is_listing(walk, value) else UNKNOWN
        case ast.Attribute(value=inner, attr=attr) if attr in _TABLES:
            return _of(walk, NamesOf, subject(walk, inner))
        case ast.Attribute(value=inner, attr=attr) if attr in _PARAMETERS:
            if attr == "co_varnames" and isinstance(inner, ast.Attribute):
                return _of(walk, ParametersOf, walk.expr(inner.value))
            if isinstance(inner, ast.Call):
                return _signature(walk, inner)
            held = walk.expr(inner)
            return held if held and type(walk.nodes.table[held]) is ParametersOf else UNKNOWN
        case ast.Call(func=ast.Attribute(value=inner, attr="keys")):
            return listing(walk, inner, depth + 1)
        case ast.Call(func=func, args=[first, *_]):
            name = guards.last_name(func)
            if name in _COPIES and isinstance(func, ast.Name):
                return listing(walk, first, depth + 1)
            if name == "getattr" and len(node.args) > 1:
                table = string_constants.texts(walk, node.args[1])
                if len(table) != 1 or table[0] not in _TABLES:
                    return UNKNOWN
                return _of(walk, NamesOf, subject(walk, first))
            if name in _LISTING:
                return _of(walk, NamesOf, subject(walk, first))
            return _signature(walk, node)
        case (
            ast.SetComp(elt=element, generators=[only])
            | ast.ListComp(elt=element, generators=[only])
            | ast.GeneratorExp(elt=element, generators=[only])
        ):
            # {field.name for field in fields(Class)}
            named = isinstance(element, ast.Attribute) and element.attr == "name"
            if isinstance(element, ast.Attribute) and named:
                element = element.value
            same = isinstance(element, ast.Name) and isinstance(only.target, ast.Name)
            if same and element.id == only.target.id and not only.ifs:  # type: ignore[attr-defined]
                listed = listing(walk, only.iter, depth + 1)
                # [member.name for member in AnEnum]
                return listed or (_of(walk, NamesOf, subject(walk, only.iter)) if named else 0)
    return UNKNOWN


def is_listing(walk: Walk, node: int) -> bool:
    """Whether a node is a list of names."""
    return isinstance(walk.nodes.table[node], (NamesOf, ParametersOf))


def _of(walk: Walk, kind: type[NamesOf] | type[ParametersOf], base: int) -> int:
    return walk.nodes.add(kind(base)) if base else UNKNOWN


def _signature(walk: Walk, node: ast.expr) -> int:
    """``signature(f)``: what it takes."""
    if not isinstance(node, ast.Call) or not node.args:
        return UNKNOWN
    if guards.last_name(node.func) not in _SIGNATURES:
        return UNKNOWN
    return _of(walk, ParametersOf, walk.expr(node.args[0]))


def module_there(walk: Walk, test: ast.expr) -> int:
    """``find_spec("sglang.srt.x")``: whether a module is there."""
    if not isinstance(test, ast.Call) or not walk.asks_for_module(test.func):
        return UNKNOWN
    texts = string_constants.texts(walk, test.args[0]) if test.args else []
    if len(texts) != 1 or not DOTTED.match(texts[0]):
        return UNKNOWN
    return walk.nodes.add(Found(walk.nodes.add(Dotted(texts[0]))))


def subject(walk: Walk, node: ast.expr) -> int:
    """A value; where nothing is known of it, what goes by its name."""
    base = walk.expr(node)
    name = guards.last_name(node)
    if base == UNKNOWN and name and name not in BUILTINS and name not in ("self", "cls"):
        return walk.nodes.add(Known(name))
    return base
