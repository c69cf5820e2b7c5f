"""Where a declared kernel stands: a function of a module, or a torch operator."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

OPERATORS = "torch.ops"


def find_kernel(name: str) -> tuple[Any, str]:
    """The holder of a declared kernel, and the attribute under which it stands there.

    Args:
        name: ``module:Qual.name``, or ``torch.ops.namespace.operator``.

    Raises:
        ImportError: There is no such module.
        AttributeError: The module, or the namespace, has no such name.
    """
    module, colon, qual = name.partition(":")
    if not colon and name.startswith(f"{OPERATORS}."):
        module, qual = OPERATORS, name.removeprefix(f"{OPERATORS}.")
    *parents, attribute = qual.split(".")
    if module == OPERATORS:
        import torch

        holder: Any = torch.ops
    else:
        holder = importlib.import_module(module)
    for parent in parents:
        holder = getattr(holder, parent)
    getattr(holder, attribute)
    return holder, attribute


def standing_in(made: Callable[..., Any], function: Any) -> Callable[..., Any]:
    """A wrapper that has what callers of a torch operator may name: its overloads."""
    for overload in ("default", "out"):
        if hasattr(function, overload):
            setattr(made, overload, made)
    return made
