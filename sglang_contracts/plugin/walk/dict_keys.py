"""Keys of dicts that flow into calls: displays, ``dict(a=…)``, merges, options under a prefix."""

from __future__ import annotations

import ast

from sglang_contracts.plugin.ir.nodes import UNKNOWN
from sglang_contracts.plugin.walk import except_clauses as guards
from sglang_contracts.plugin.walk import operands, string_constants
from sglang_contracts.plugin.walk.scope import Scope
from sglang_contracts.plugin.walk.state import Walk

_DEEPEST = 6
"""Dicts that one is merged of, one in the other."""
_COPIES = frozenset({"copy", "deepcopy"})


def keys_of(walk: Walk, node: ast.expr | None, depth: int = 0) -> dict[str, int] | None:
    """The keys of a dict that an expression makes, with the nodes of their values.

    None where it evidently makes none: a name, a call of anything else. Of several that are merged
    it is those that are told.
    """
    if depth > _DEEPEST:
        return None
    with walk.silently():
        match node:
            case ast.Dict():
                return _of_display(walk, node, depth)
            case ast.BinOp(left=left, op=ast.BitOr(), right=right):
                one, other = _merged(walk, left, depth), _merged(walk, right, depth)
                return {**one, **other} if one or other else None
            case ast.Call(func=ast.Name(id=name), args=args, keywords=keywords) if (
                name == "dict" or name in walk.dict_classes
            ):
                keys: dict[str, int] = {}
                for each in args:
                    keys.update(_merged(walk, each, depth))
                for keyword in keywords:
                    if keyword.arg is None:
                        keys.update(_merged(walk, keyword.value, depth))
                    else:
                        keys[keyword.arg] = operands.argument(walk, keyword.value)
                return keys
            case ast.Call(func=ast.Attribute(value=held, attr="copy"), args=[]):
                return _merged(walk, held, depth) or None
            case ast.Call(func=func, args=[held]) if guards.last_name(func) in _COPIES:
                return _merged(walk, held, depth) or None
            case ast.DictComp():
                return _prefixed(walk, node)
            case ast.Attribute():
                constant = string_constants.member_constant(walk, node)
                return keys_of(walk, constant, depth + 1) if constant is not None else None
    return None


def _of_display(walk: Walk, node: ast.Dict, depth: int) -> dict[str, int]:
    keys: dict[str, int] = {}
    for key, value in zip(node.keys, node.values, strict=True):
        if key is None:
            keys.update(_merged(walk, value, depth))
        elif isinstance(key, ast.Constant) and isinstance(key.value, str):
            keys[key.value] = operands.argument(walk, value)
    return keys


def _merged(walk: Walk, node: ast.expr, depth: int) -> dict[str, int]:
    """The keys of a part of a dict; of a name, those of what it was bound to."""
    if not isinstance(node, ast.Name):
        return keys_of(walk, node, depth + 1) or {}
    scope: Scope | None = walk.scope
    while scope is not None:
        if node.id in scope.dicts:
            under = scope.set_under.get(node.id, {})
            return {key: value for key, value in scope.dicts[node.id].items() if key not in under}
        if node.id in scope.names:
            break
        scope = scope.parent
    return {}


def _prefixed(walk: Walk, node: ast.DictComp) -> dict[str, int] | None:
    """``{k[len(P):]: v for k, v in vars(ns).items() if k.startswith(P)}``: options of a parser."""
    if len(node.generators) != 1:
        return None
    loop = node.generators[0]
    match loop.iter:
        case ast.Call(func=ast.Attribute(value=ast.Call(func=ast.Name(id="vars")), attr="items")):
            pass
        case _:
            return None
    if len(loop.ifs) != 1 or not isinstance(node.key, (ast.Subscript, ast.Call)):
        return None
    match loop.ifs[0]:
        case ast.Call(func=ast.Attribute(attr="startswith"), args=[prefix]):
            texts = string_constants.texts(walk, prefix)
        case _:
            return None
    match node.key:
        case ast.Subscript(slice=ast.Slice(lower=ast.expr(), upper=None)):
            pass
        case ast.Call(func=ast.Attribute(attr="removeprefix")):
            pass
        case _:
            return None
    if len(texts) != 1 or texts[0] in ("", "*"):
        return None
    cut = len(texts[0])
    return {
        name[cut:]: UNKNOWN
        for each in walk.everything
        for name in [_destination(each)]
        if name.startswith(texts[0]) and len(name) > cut
    }


def _destination(node: ast.AST) -> str:
    """What ``add_argument`` keeps an option as; empty for anything else."""
    match node:
        case ast.Call(func=ast.Attribute(attr="add_argument"), args=args, keywords=keywords):
            for keyword in keywords:
                if keyword.arg == "dest" and isinstance(keyword.value, ast.Constant):
                    return str(keyword.value.value)
            for each in args:
                if isinstance(each, ast.Constant) and str(each.value).startswith("--"):
                    return str(each.value)[2:].replace("-", "_")
    return ""


def shrunk(walk: Walk) -> frozenset[str]:
    """Names of what the file takes keys from: what made it does not tell what is left."""
    if walk.shrunk is None:
        names: set[str] = set()
        for node in walk.everything:
            match node:
                case ast.Attribute(value=ast.Name(id=name), attr="pop" | "popitem" | "clear"):
                    names.add(name)
                case ast.Subscript(value=ast.Name(id=name), ctx=ast.Del()):
                    names.add(name)
        walk.shrunk = frozenset(names)
    return walk.shrunk
