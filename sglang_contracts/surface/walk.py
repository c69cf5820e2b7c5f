"""Which fields of a node are worth a visit: what makes reading a release quick.

:func:`ast.walk` visits operators, contexts and every name's leaf; most of a release's nodes are of
those kinds. The two readers of this package walk with :func:`child_fields` instead.
"""

from __future__ import annotations

import ast

_CHILDREN: dict[type[ast.AST], tuple[str, ...]] = {
    ast.Name: (),
    ast.Constant: (),
    ast.alias: (),
    ast.arg: ("annotation",),
    ast.Pass: (),
    ast.Break: (),
    ast.Continue: (),
    ast.Global: (),
    ast.Nonlocal: (),
    ast.Attribute: ("value",),
    ast.Subscript: ("value", "slice"),
    ast.Starred: ("value",),
    ast.List: ("elts",),
    ast.Tuple: ("elts",),
    ast.BinOp: ("left", "right"),
    ast.UnaryOp: ("operand",),
    ast.BoolOp: ("values",),
    ast.Compare: ("left", "comparators"),
    ast.keyword: ("value",),
}


def child_fields(kind: type[ast.AST]) -> tuple[str, ...]:
    """Fields of a node class that can hold nodes worth a visit (operators and contexts cannot)."""
    fields = _CHILDREN.get(kind)
    if fields is None:
        skip = ("ctx", "op", "ops", "type_comment", "id", "name", "attr", "lineno", "kind")
        # Plain values (``is_async``, ``conversion``, names in a list) have no fields at all.
        fields = tuple(each for each in getattr(kind, "_fields", ()) if each not in skip)
        if kind is ast.Call:
            fields = ("func", "args", "keywords")
        elif kind in (ast.FunctionDef, ast.AsyncFunctionDef):
            fields = ("args", "body", "decorator_list", "returns")
        elif kind in (ast.Import, ast.ImportFrom):
            fields = ()
        elif kind is ast.ClassDef:
            fields = ("bases", "keywords", "body", "decorator_list")
        elif kind is ast.ExceptHandler:
            fields = ("type", "body")
        _CHILDREN[kind] = fields
    return fields
