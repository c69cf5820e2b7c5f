"""What a failure ends in: a few lines of Python that fail alone, for the same reason."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from sglang_contracts.errors import ContractsError

if TYPE_CHECKING:
    from sglang_contracts.suite.context import Context
    from sglang_contracts.suite.registry import Check


def snippet(check: Check, context: Context) -> str:
    """Python for a fresh process that fails as ``check`` just did, with the smallest example."""
    parts = [f'"{check.id}"', f'plugin="{context.subject.name}"']
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


def reproduce(
    check: str,
    *,
    plugin: str,
    sglang: str,
    example: Any = None,
    mutant: str = "",
    config: str = "",
) -> None:
    """Run one check on one example.

    Args:
        check: Its id.
        plugin: Name of the installed distribution.
        sglang: ``fake:V``, or the version of the SGLang that must be installed.
        example: What the check is run on; None: on everything, as in the suite.
        mutant: File of a mutant to apply first.
        config: Settings file of the plugin.

    Raises:
        Violation: It fails, by its own assertion.
        SubjectError: The backend raised.
        ContractsError: It cannot be run here.
    """
    from sglang_contracts.suite.engine import run_check
    from sglang_contracts.suite.registry import find
    from sglang_contracts.suite.session import open_session
    from sglang_contracts.suite.violation import SubjectError, Violation

    chosen = find(check)
    session = open_session(plugin, sglang, config=Path(config) if config else None)
    if mutant:
        session = session.mutated(Path(mutant))
    context = session.context("full")
    context.example = example
    result = run_check(chosen, context)
    if result.outcome == "fail":
        if result.crash:
            raise SubjectError(f"{check}: {result.message}", RuntimeError("see above"))
        raise Violation(f"{check}: {result.message}")
    if result.outcome != "pass":
        raise ContractsError(f"{check}: {result.outcome}: {result.reason or result.message}")
    print(f"{check} passes on this example")
