"""The key/value pool as the bench sees it: by raw index, past the pool's own methods."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from sglang_contracts.contract.layout import layout
from sglang_contracts.suite.passes import Write, noise

if TYPE_CHECKING:
    from sglang_contracts.suite.context import Context
    from sglang_contracts.suite.script import Cell

LAYERS = 2


class Watched:
    """A pool whose buffers are read and written by index, and whose writing methods are noted.

    Args:
        context: The running check's surroundings.
        cell: Dtype, page size, heads.
        seed: Of the pool's old contents.
        pool: The pool.
    """

    def __init__(self, context: Context, cell: Cell, seed: int, pool: Any) -> None:
        self.context, self.cell, self.seed, self.pool = context, cell, seed, pool
        capabilities = context.subject.capabilities
        if cell.latent:  # SGLang's own pool, or one that stores as it does
            self.axes = [layout(("slot", "head", "dim"))] * 2
        else:
            self.axes = [
                layout(capabilities.kv_layout),
                layout(capabilities.v_layout or capabilities.kv_layout),
            ]
        self.writes: list[Write] = []
        self.spying = True
        self._depth = 0
        self._seen: list[tuple[Any, Any]] | None = None
        self._spy()

    def _spy(self) -> None:
        """Note every call of a writing method of the pool, the outermost ones only."""
        for name in dir(type(self.pool)):
            if not (name.startswith("set_") and name.endswith("buffer")):
                continue
            method = getattr(self.pool, name)
            if callable(method):
                setattr(self.pool, name, self._noting(name, method))

    def _noting(self, name: str, method: Callable[..., Any]) -> Callable[..., Any]:
        def noted(layer: Any, loc: Any, cache_k: Any = None, *args: Any, **kwargs: Any) -> Any:
            if self._depth == 0 and self.spying:
                slots = getattr(loc, "loc", loc)
                plain = slots.dim() == 1 if hasattr(slots, "dim") else False
                with self.context.unobserved():
                    self.writes.append(
                        Write(
                            name,
                            int(getattr(layer, "layer_id", -1)),
                            tuple(slots.tolist()) if plain else None,
                            str(getattr(slots, "dtype", type(slots).__name__)).removeprefix(
                                "torch."
                            ),
                            int(cache_k.shape[0]) if cache_k is not None else -1,
                        )
                    )
            self._depth += 1
            try:
                with self.one_rank():
                    if cache_k is None:
                        return method(layer, loc, *args, **kwargs)
                    return method(layer, loc, cache_k, *args, **kwargs)
            finally:
                self._depth -= 1

        return noted

    def one_rank(self) -> AbstractContextManager[None]:
        """Within it, a pool of latent keys can be asked without a server; a fake's asks nobody."""
        from sglang_contracts import fakes

        if self.cell.latent and fakes.installed() is None:
            return self.context.builder.differences.single_rank()
        return contextlib.nullcontext()

    def buffers(self, layer: int) -> tuple[Any, Any]:
        """The raw buffers of a layer."""
        if self.cell.latent:
            latent = self.pool.kv_buffer[layer]
            return latent, latent[..., : self.cell.latent]
        return self.pool.k_buffer[layer], self.pool.v_buffer[layer]

    def raw(self, layer: int) -> tuple[Any, Any]:
        """Keys and values of a layer, ``[slots, heads, dim]``, copied to the host."""
        with self.context.unobserved():
            return tuple(
                self._by_slot(buffer, axes).to("cpu", copy=True)
                for buffer, axes in zip(self.buffers(layer), self.axes, strict=True)
            )

    def look(self) -> list[tuple[Any, Any]]:
        """What the bench last saw in the pool, all layers; it looks now if it has seen nothing."""
        if self._seen is None:
            self._seen = [self.raw(layer) for layer in range(LAYERS)]
        return self._seen

    def forget(self) -> None:
        """The pool has been changed by the bench itself: what was seen counts no more."""
        self._seen = None

    @staticmethod
    def _by_slot(buffer: Any, axes: Any) -> Any:
        if axes.paged:
            order = [axes.axes.index(a) for a in ("page", "offset", "head", "dim")]
            return buffer.permute(order).flatten(0, 1)
        return buffer.permute([axes.axes.index(a) for a in ("slot", "head", "dim")])

    def put(self, layer: int, slots: list[int], keys: Any, values: Any) -> None:
        """Write keys and values to slots by raw index."""
        import torch

        self.forget()
        with self.context.unobserved():
            for buffer, axes, rows in zip(
                self.buffers(layer), self.axes, (keys, values), strict=True
            ):
                index = torch.tensor(slots, dtype=torch.int64).to(buffer.device)
                rows, page = rows.to(buffer.device, buffer.dtype), self.cell.page_size
                if axes.paged:
                    order = [axes.axes.index(a) for a in ("page", "offset", "head", "dim")]
                    buffer.permute(order)[index // page, index % page] = rows
                else:
                    order = [axes.axes.index(a) for a in ("slot", "head", "dim")]
                    buffer.permute(order)[index] = rows

    def poison(self, value: float = float("nan")) -> None:
        """Give every slot of the pool, the padding page's included, one value."""
        self.forget()
        with self.context.unobserved():
            for layer in range(LAYERS):
                for buffer in self.buffers(layer):
                    buffer.fill_(value)

    def fill(self, seed: int | None = None) -> None:
        """Give the whole pool old contents: large, finite, different in every slot."""
        self.forget()
        number = self.seed + 7 if seed is None else seed
        with self.context.unobserved():
            for layer in range(LAYERS):
                for part, buffer in enumerate(self.buffers(layer)):
                    old = noise(buffer.shape, number * 97 + layer * 2 + part) * 8
                    buffer.copy_(old.to(buffer.dtype).to(buffer.device))
