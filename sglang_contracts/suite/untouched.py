"""Whether the suite's own functions are, at the end of a run, those that it began with.

A plugin that replaces one of them does not show what the suite would say of it. This is found by
looking; a plugin that puts back what it has replaced is not found.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Iterator
from typing import Any

_OURS = "sglang_contracts.suite"


def functions() -> dict[str, tuple[Any, Any]]:
    """Every function of the suite's loaded modules by name: itself, and its code."""
    found: dict[str, tuple[Any, Any]] = {}
    for name, module in list(sys.modules.items()):
        if name == _OURS or name.startswith(f"{_OURS}."):
            for key, value in list(vars(module).items()):
                found.update(_of(f"{name.removeprefix('sglang_contracts.')}.{key}", value))
    return found


def altered(before: dict[str, tuple[Any, Any]]) -> list[str]:
    """Names of those that are not what they were."""
    now = functions()
    return sorted(
        name
        for name, (function, code) in before.items()
        if name not in now or now[name][0] is not function or now[name][1] is not code
    )


def _of(name: str, value: Any) -> Iterator[tuple[str, tuple[Any, Any]]]:
    if isinstance(value, types.FunctionType):
        yield name, (value, value.__code__)
    elif isinstance(value, type) and value.__module__.startswith(_OURS):
        for key, each in list(vars(value).items()):
            inner = getattr(each, "__func__", getattr(each, "fget", each))
            if isinstance(inner, types.FunctionType):
                yield f"{name}.{key}", (inner, inner.__code__)
