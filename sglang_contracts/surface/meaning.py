"""What the text of an annotation or a display means in a release: classes, or strings."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Protocol

from sglang_contracts.surface.model import Attribute, Value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sglang_contracts.surface.symbol import Symbol

_WRAPPERS = {"Optional", "Union", "ClassVar", "Final", "Annotated", "Required", "NotRequired"}
_CONTAINERS = {"Type", "type", "List", "list", "Dict", "dict", "Tuple", "tuple", "Set"}
_DEEPEST = 5
"""Names that may stand for names: a table of strings is made of a few others at most."""


class Names(Protocol):
    """Looks up the names of one release."""

    def scope(self, module: str, name: str) -> Symbol | None:
        """A name as an annotation in the module means it."""

    def top(self, module: str, name: str) -> Symbol | None:
        """A name of the module, as it is there at run time."""

    def member(self, owner: Symbol, name: str) -> Symbol | None:
        """A member of a class, its own or inherited."""


def classes_meant(names: Names, module: str, text: str) -> tuple[Symbol, ...]:
    """The classes an annotation in a module can mean; () where one alternative is not known."""
    found = _alternatives(names, module, [tree] if (tree := _parsed(text.strip())) else [])
    return tuple(dict.fromkeys(found)) if found else ()


def strings_meant(names: Names, module: str, text: str, depth: int = 0) -> tuple[str, ...] | None:
    """The strings a display in a module, or a name for one, stands for; None: it is neither."""
    tree = _parsed(text)
    return _strings(names, module, tree, depth) if tree is not None else None


def _parsed(text: str) -> ast.expr | None:
    try:
        return ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError):
        return None


def _alternatives(names: Names, module: str, nodes: Sequence[ast.expr]) -> list[Symbol] | None:
    out: list[Symbol] = []
    for node in nodes:
        found = _annotation(names, module, node)
        if found is None:
            return None
        out += found
    return out


def _annotation(names: Names, module: str, node: ast.expr) -> list[Symbol] | None:
    """Alternatives of an annotation; [] for None alone; None where one is not known."""
    match node:
        case ast.Constant(value=None):
            return []
        case ast.Constant(value=str(text)):
            tree = _parsed(text.strip())
            return _annotation(names, module, tree) if tree is not None else None
        case ast.BinOp(op=ast.BitOr()):
            return _alternatives(names, module, [node.left, node.right])
        case ast.Subscript(value=outer):
            name = outer.attr if isinstance(outer, ast.Attribute) else getattr(outer, "id", "")
            inner = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            if name in _WRAPPERS:
                return _alternatives(names, module, inner[:1] if name == "Annotated" else inner)
            # else a generic class of the release
            return None if name in _CONTAINERS else _annotation(names, module, outer)
        case ast.Name() | ast.Attribute():
            found = _dotted(names, module, node)
            return [found] if found is not None and found.kind == "class" else None
    return None


def _dotted(names: Names, module: str, node: ast.expr) -> Symbol | None:
    if isinstance(node, ast.Name):
        return names.scope(module, node.id)
    outer = _dotted(names, module, node.value) if isinstance(node, ast.Attribute) else None
    if outer is None or not isinstance(node, ast.Attribute):
        return None
    if outer.kind == "module":
        return names.top(outer.module, node.attr)
    return names.member(outer, node.attr) if outer.kind == "class" else None


def _strings(names: Names, module: str, node: ast.expr, depth: int) -> tuple[str, ...] | None:
    if depth > _DEEPEST:
        return None
    match node:
        case ast.List() | ast.Tuple() | ast.Set():
            return _elements(names, module, node.elts, depth)
        case ast.BinOp(op=ast.Add()):
            left = _strings(names, module, node.left, depth + 1)
            right = _strings(names, module, node.right, depth + 1)
            return None if left is None or right is None else left + right
        case ast.Call(func=ast.Name(id="list" | "tuple" | "sorted" | "set"), args=[inner]):
            return _strings(names, module, inner, depth + 1)
        case ast.Call(func=ast.Attribute(value=inner, attr="keys"), args=[]):
            return _strings(names, module, inner, depth + 1)
        case ast.Name() | ast.Attribute():
            found = _dotted(names, module, node)
            if found is None or not isinstance(found.node, (Value, Attribute)):
                return None
            if found.node.keys or not found.node.value:
                return found.node.keys or None
            return strings_meant(names, found.module, found.node.value, depth + 1)
    return None


def _elements(
    names: Names, module: str, nodes: Sequence[ast.expr], depth: int
) -> tuple[str, ...] | None:
    out: list[str] = []
    for node in nodes:
        if isinstance(node, ast.Starred):
            inner = _strings(names, module, node.value, depth + 1)
            if inner is None:
                return None
            out += inner
        elif isinstance(node, ast.Constant):
            out.append(str(node.value))
        else:
            return None
    return tuple(out)
