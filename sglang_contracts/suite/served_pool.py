"""Makes the key/value pool of a cell, as the plugin serves it, and what a request stores in it."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from sglang_contracts.suite.passes import Request, noise
from sglang_contracts.suite.watched import LAYERS

if TYPE_CHECKING:
    from sglang_contracts.live.build import Builder, Geometry
    from sglang_contracts.suite.script import Cell
    from sglang_contracts.suite.subject import Subject


def cached(geometry: Geometry, cell: Cell) -> Geometry:
    """The geometry with the dtype of the cache."""
    return dataclasses.replace(geometry, dtype=cell.cache) if cell.cache else geometry


def make_pool(
    builder: Builder, geometry: Geometry, cell: Cell, subject: Subject, first: int = 0
) -> Any:
    """A pool of the cell's kind, of layers from ``first`` on."""
    more = {"start_layer": first, "end_layer": first + LAYERS - 1} if first else {}
    geometry = cached(geometry, cell)
    if cell.latent:
        rope = cell.dims[0] - cell.latent
        return builder.mla_pool(geometry, cell.latent, rope, subject.latent_pool, **more)
    return builder.mha_pool(geometry, subject.kv_pool, **more)


def fill_request(made: Request, cell: Cell, geometry: Geometry, seed: int, loud: float) -> None:
    """Give a request queries, keys and values of each position in every layer.

    Keys and values are numbers that the cache's dtype holds exactly: rounding them again is none.
    """
    import torch

    q_heads, kv_heads = cell.heads
    dim, value_dim = cell.dims
    parts = (("q", q_heads, dim), ("k", kv_heads, dim), ("v", kv_heads, value_dim))
    for layer in range(LAYERS):
        for index, (name, heads, width) in enumerate(parts):
            if name == "v" and cell.latent:
                made.v.append(made.k[layer][..., : cell.latent])
                continue
            number = ((seed * 131 + made.number) * 31 + layer) * 3 + index
            data = noise((geometry.max_context, heads, width), number + 1)
            if name != "v" and loud != 1.0:
                data = data * loud
            if cell.cache and name != "q":
                data = data.to(getattr(torch, cell.cache)).to(torch.float32)
            getattr(made, name).append(data.to(geometry.torch_dtype))
