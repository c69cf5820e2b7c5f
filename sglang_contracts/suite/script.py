"""A few forward passes as data: what Hypothesis draws and shrinks, and what a snippet prints.

The ``repr`` of a script is Python that makes it again.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any


def _short(value: Any) -> str:
    """``repr`` with the fields that have their default left out."""
    parts = [
        f"{each.name}={getattr(value, each.name)!r}"
        for each in fields(value)
        if getattr(value, each.name) != each.default
    ]
    return f"{type(value).__name__}({', '.join(parts)})"


@dataclass(frozen=True, repr=False)
class Cell:
    """One point of what a plugin declares.

    Attributes:
        dtype: torch dtype of queries, keys, values and cache.
        page_size: Slots of a page.
        heads: Query heads and key/value heads.
        dims: Head dim of queries and keys, and of values.
        latent: Rank of the latent keys (MLA), whose first elements are the values; 0: none.
        cache: torch dtype of the cache, where it is another than ``dtype``; empty: as ``dtype``.
    """

    dtype: str = "float32"
    page_size: int = 1
    heads: tuple[int, int] = (4, 2)
    dims: tuple[int, int] = (16, 16)
    latent: int = 0
    cache: str = ""

    def __repr__(self) -> str:
        return _short(self)

    @property
    def label(self) -> str:
        """For people and certificates."""
        q, kv = self.heads
        d, dv = self.dims
        if self.latent:
            return f"{self.dtype} page {self.page_size} heads {q} latent {dv}+{d - dv}"
        dims = f"{d}" if d == dv else f"{d}/{dv}"
        dtype = f"{self.dtype} over {self.cache}" if self.cache else self.dtype
        return f"{dtype} page {self.page_size} heads {q}/{kv} dim {dims}"


SIMPLEST = Cell()
"""The cell that a shrunk example has where the cell does not matter."""


@dataclass(frozen=True, repr=False)
class Turn:
    """One forward pass.

    Attributes:
        mode: ``extend``, ``mixed``, ``decode`` or ``idle``.
        rows: For each request in batch order: its number and its new tokens; a new request may
            add whose cached tokens it starts with and how many of them.
    """

    mode: str
    rows: tuple[tuple[int, ...], ...] = ()

    def __repr__(self) -> str:
        return f"Turn({self.mode!r}, {self.rows!r})"


@dataclass(frozen=True, repr=False)
class Script:
    """Passes one after the other on one backend.

    Attributes:
        turns: The passes.
        cell: Dtype, page size, heads.
        seed: Of the data, of the order in which pages are handed out, of the pool's old contents.
        window: Sliding window of the layers; -1: none.
    """

    turns: tuple[Turn, ...]
    cell: Cell = SIMPLEST
    seed: int = 0
    window: int = -1

    def __repr__(self) -> str:
        return _short(self)
