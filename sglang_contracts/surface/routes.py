"""HTTP routes, as a FastAPI application or router registers them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

ROUTES = frozenset({"get", "post", "put", "delete", "patch", "api_route", "add_api_route"})
"""Methods of an application that register a path."""
_ANY = {"api_route", "add_api_route"}


def routes(name: str, node: ast.Call, path: str) -> Iterator[str]:
    """``METHOD /path`` for each method that a call registers.

    Args:
        name: What is called: one of :data:`ROUTES`.
        node: The call.
        path: Its first argument.
    """
    if name not in _ANY:
        # ``session.get("/x")`` of a client looks the same; a decorator or a handler does not.
        if len(node.args) == 1:
            yield f"{name.upper()} {path}"
        return
    methods = ["GET"]
    for keyword in node.keywords:
        if keyword.arg == "methods" and isinstance(keyword.value, (ast.List, ast.Tuple, ast.Set)):
            methods = [str(e.value) for e in keyword.value.elts if isinstance(e, ast.Constant)]
    for method in methods:
        yield f"{method.upper()} {path}"
