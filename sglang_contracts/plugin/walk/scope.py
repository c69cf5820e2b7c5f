"""The names of one body, and constants of syntax that the walk shares."""

from __future__ import annotations

import ast
import builtins
import re
from typing import NamedTuple

LONGEST_PATH = 400
"""Characters of a dotted path that may be one of SGLang's."""
DOTTED = re.compile(
    r"(?=.{,400}\Z)sglang(?:\.[A-Za-z_]\w*)+(?::[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)?\Z"
)

LITERALS = {
    "int": "int",
    "float": "float",
    "str": "str",
    "bool": "bool",
    "bytes": "str",
    "list": "list",
    "dict": "dict",
    "tuple": "tuple",
    "set": "list",
    "len": "int",
    "sum": "number",
    "abs": "number",
    "round": "number",
    "sorted": "list",
    "range": "list",
    "repr": "str",
}
IDENTIFIER = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*\Z")
BUILTINS = frozenset(dir(builtins))


class Rows(NamedTuple):
    """Names of a loop that belong together: each row of a table binds all of them."""

    names: tuple[str, ...]
    rows: list[list[ast.expr]]
    function: int = -1
    """Whose parameter the table is, where it is not shown."""
    position: int = -1


class Scope:
    """The names of one function body (or of the module)."""

    __slots__ = (
        "constants",
        "dicts",
        "function",
        "globals",
        "maybe",
        "names",
        "narrowed",
        "owner",
        "parent",
        "rows",
        "set_under",
        "variables",
    )

    def __init__(self, parent: Scope | None, function: int, owner: str) -> None:
        self.names: dict[str, int] = {}
        self.constants: dict[str, ast.expr] = {}
        self.variables: dict[str, ast.Call] = {}
        self.narrowed: dict[str, int] = {}
        self.dicts: dict[str, dict[str, int]] = {}
        """Names bound to ``dict(a=…)`` or a dict display, with their keys."""
        self.set_under: dict[str, dict[str, int]] = {}
        """For those: keys that were set later, and the guard under which."""
        self.globals: set[str] = set()
        """Names that the body binds in the module."""
        self.maybe = 0
        """How many bodies around the present statement run or not, which no node tells."""
        self.rows: list[Rows] = []
        """Names of loops that belong together."""
        self.parent = parent
        self.function = function
        self.owner = owner

    def find(self, name: str) -> int | None:
        """The node of a name, in this scope or one around it."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.names:
                return scope.names[name]
            scope = scope.parent
        return None

    def holder(self, name: str) -> Scope | None:
        """The scope that binds a name: this one, or one around it."""
        scope: Scope | None = self
        while scope is not None and name not in scope.names:
            scope = scope.parent
        return scope

    def constant(self, name: str) -> ast.expr | None:
        """The constant display a name is bound to, where there is exactly one."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.constants:
                return scope.constants[name]
            if name in scope.names:
                return None
            scope = scope.parent
        return None

    def variable(self, name: str) -> ast.Call | None:
        """The call of ``TypeVar`` that a name is bound to."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.variables:
                return scope.variables[name]
            if name in scope.names:
                return None
            scope = scope.parent
        return None


def dotted_name(node: ast.expr) -> str:
    """``a.b.c`` for a chain of names; empty for anything else."""
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return ""
    parts.append(node.id)
    return ".".join(reversed(parts))
