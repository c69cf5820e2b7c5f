"""Tensors in what an operator takes and gives: lists, tuples and dicts of whatever depth.

`torch.utils._pytree` does the same for any registered class, at ten times the price; a simulated
device walks the arguments of every single operator.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.utils._pytree import tree_map


def tensors(value: Any) -> list[torch.Tensor]:
    """Every tensor in `value`, in order."""
    found: list[torch.Tensor] = []
    _collect(value, found)
    return found


def _collect(value: Any, found: list[torch.Tensor]) -> None:
    if isinstance(value, torch.Tensor):
        found.append(value)
    elif isinstance(value, (list, tuple)):
        for each in value:
            _collect(each, found)
    elif isinstance(value, dict):
        for each in value.values():
            _collect(each, found)


def mapped(function: Callable[[torch.Tensor], Any], value: Any) -> Any:
    """`value` with each tensor in it replaced by what `function` gives for it."""
    if isinstance(value, torch.Tensor):
        return function(value)
    kind = type(value)
    if kind is list:
        return [mapped(function, each) for each in value]
    if kind is tuple:
        return tuple(mapped(function, each) for each in value)
    if kind is dict:
        return {name: mapped(function, each) for name, each in value.items()}
    if isinstance(value, (list, tuple, dict)):  # named tuples and the like: torch knows how
        return tree_map(lambda each: function(each) if _is_tensor(each) else each, value)
    return value


def _is_tensor(value: Any) -> bool:
    return isinstance(value, torch.Tensor)
