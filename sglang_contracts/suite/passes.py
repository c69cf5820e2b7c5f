"""What a bench books: requests, prepared batches, passes, and the data that they run on."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

_BANK = (1 << 19) - 1
"""A prime: rows of any width that are far apart begin at other places of it, so none repeats."""


@functools.cache
def _bank(times: int = 1) -> Any:
    """Normally distributed numbers, drawn once: data of requests are windows on them.

    Args:
        times: How often they come one after the other: for windows that are larger.
    """
    import torch

    if times > 1:
        return _bank().repeat(times)
    return torch.randn(_BANK, generator=torch.Generator().manual_seed(20))


def noise(shape: Sequence[int], seed: int) -> Any:
    """A float32 tensor of unit variance that is the same for the same arguments: do not write."""
    count = math.prod(shape)
    bank = _bank(1 if count <= _BANK // 2 else 2 * count // _BANK + 1)
    start = (seed * 2654435761) % (bank.numel() - count)
    return bank[start : start + count].view(*shape)


@dataclass
class Request:
    """One request's book.

    Attributes:
        number: Its number in the script; its data derive from it.
        row: Its row of the request pool.
        slots: The slot of each of its tokens, in order.
        shared: How many of the first belong to another request.
        q: Layer → queries of each position, ``[tokens, Hq, D]``, on the host.
        k: Layer → keys, ``[tokens, Hkv, D]``.
        v: Layer → values, ``[tokens, Hkv, Dv]``.
    """

    number: int
    row: int
    slots: list[int] = field(default_factory=list)
    shared: int = 0
    q: list[Any] = field(default_factory=list)
    k: list[Any] = field(default_factory=list)
    v: list[Any] = field(default_factory=list)


@dataclass(frozen=True)
class Write:
    """One call of a pool's writing method.

    Attributes:
        method: Its name.
        layer: Layer it was told to write.
        loc: The slots, on the host; None where the argument is no tensor.
        loc_dtype: dtype of the slots as they came.
        rows: Leading size of the keys.
    """

    method: str
    layer: int
    loc: tuple[int, ...] | None
    loc_dtype: str
    rows: int


@dataclass
class Step:
    """One prepared batch.

    Attributes:
        mode: The forward mode.
        batch: The ``ForwardBatch``.
        requests: Its requests, in batch order.
        starts: Tokens each had before.
        counts: Tokens each gets.
        loc: The slots of the new tokens, in batch order.
    """

    mode: str
    batch: Any
    requests: list[Request]
    starts: list[int]
    counts: list[int]
    loc: list[int]


@dataclass
class Pass:
    """One layer of one step: what went in, what came out, what happened to the pool.

    Attributes:
        step: The batch.
        layer: Which layer.
        q: Queries given, ``[T, Hq * D]``, as they were before the call (host).
        k: Keys given, ``[T, Hkv * D]`` (host).
        v: Values given, ``[T, Hkv * Dv]`` (host).
        out: What the layer returned.
        given: The tensor of queries that was handed over.
        writes: The pool's writing methods that were called.
        before: Keys and values of every layer when the bench last saw them, ``[slots, heads, dim]``
            (host): what the backend did between two passes shows, too. Empty where the bench does
            not look.
        after: The same after.
        touched: Fields of the batch, and inputs, that the call changed.
    """

    step: Step
    layer: int
    q: Any
    k: Any
    v: Any
    out: Any
    given: Any
    writes: list[Write]
    before: list[tuple[Any, Any]]
    after: list[tuple[Any, Any]]
    touched: list[str]
