"""Under which condition a statement of a body stands."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from sglang_contracts.surface import expression
from sglang_contracts.surface.model import Condition

ALWAYS = Condition(0)


def conditional(
    body: Iterable[ast.stmt], condition: Condition = ALWAYS
) -> Iterator[tuple[ast.stmt, Condition]]:
    """Statements of a body and of the blocks in it (not of functions), each with its condition."""
    for node in body:
        if isinstance(node, ast.If):
            test = expression.text(node.test)
            if test in ("TYPE_CHECKING", "typing.TYPE_CHECKING"):
                yield from conditional(node.body, condition | Condition.TYPE_CHECKING)
                yield from conditional(node.orelse, condition)
            elif test == "__name__ == '__main__'":
                continue
            else:
                yield from conditional(node.body, condition | Condition.IF)
                yield from conditional(node.orelse, condition | Condition.FALLBACK)
        elif isinstance(node, ast.Try):
            yield from conditional(node.body, condition | Condition.TRY)
            for handler in node.handlers:
                yield from conditional(handler.body, condition | Condition.FALLBACK)
            yield from conditional(node.orelse, condition | Condition.TRY)
            yield from conditional(node.finalbody, condition)
        elif isinstance(node, (ast.With, ast.AsyncWith)):
            yield from conditional(node.body, condition)
        elif isinstance(node, (ast.For, ast.While, ast.AsyncFor)):
            yield from conditional(node.body, condition | Condition.IF)
        else:
            yield node, condition
