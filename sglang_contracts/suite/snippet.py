"""What a failure ends in: a few lines of Python that fail alone, for the same reason."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sglang_contracts.suite.context import Context
    from sglang_contracts.suite.registry import Check


def snippet(check: Check, context: Context) -> str:
    """Python for a fresh process that fails as ``check`` just did, with the smallest example."""
    tests = context.subject.parts.get("tests")
    parts = [f'"{check.id}"']
    parts.append(f"tests={str(tests)!r}" if tests else f'plugin="{context.subject.name}"')
    release = context.release
    kind = context.subject.parts.get("sglang", "installed")
    parts.append(f'sglang="fake:{release}"' if kind == "fake" else f'sglang="{release}"')
    for name in ("config", "mutant"):
        value = context.subject.parts.get(name)
        if value:
            parts.append(f"{name}={str(value)!r}")
    lines = ["from sglang_contracts.suite.reproduce import *", "", f"reproduce({', '.join(parts)}"]
    if context.failing is not None:
        lines[-1] += ","
        lines.append(f"    example={context.failing!r},")
        lines.append(")")
    else:
        lines[-1] += ")"
    return "\n".join(lines)
