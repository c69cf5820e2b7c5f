"""A tiny language model on top of attention: enough to see whether requests keep their own text.

Two layers of attention over fixed random embeddings; the next token is the most likely one. The
same model runs twice: on the backend under test, with batches, pages and slots; and in float64 with
numpy, one request at a time.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from sglang_contracts.suite import oracle
from sglang_contracts.suite.bench import CONTEXT
from sglang_contracts.suite.watched import LAYERS

if TYPE_CHECKING:
    from sglang_contracts.suite.bench import Bench
    from sglang_contracts.suite.script import Cell

VOCABULARY = 61
WIDTH = 24
MARGIN = 0.05
"""The most likely token counts only where it leads by so much: rounding may not decide."""


class Model:
    """The weights, in float64.

    Args:
        cell: Heads and head dims.
    """

    def __init__(self, cell: Cell) -> None:
        import numpy

        self.cell = cell
        draw = numpy.random.default_rng(7)
        heads, kv_heads = cell.heads
        dim, value_dim = cell.dims
        self.tokens = draw.normal(size=(VOCABULARY, WIDTH))
        self.positions = draw.normal(size=(CONTEXT, WIDTH)) * 0.7
        scale = WIDTH**-0.5
        self.q = draw.normal(size=(LAYERS, WIDTH, heads * dim)) * scale
        self.k = draw.normal(size=(LAYERS, WIDTH, kv_heads * dim)) * scale
        self.v = draw.normal(size=(LAYERS, WIDTH, kv_heads * value_dim)) * scale
        if cell.latent:
            self.v = self.k[..., :value_dim]
        self.o = draw.normal(size=(LAYERS, heads * value_dim, WIDTH)) * (heads * value_dim) ** -0.5
        self.head = draw.normal(size=(WIDTH, VOCABULARY))

    def embed(self, token: int, position: int) -> Any:
        """A token's vector at a position."""
        return self.tokens[token] + self.positions[position]

    def logits(self, hidden: Any) -> Any:
        """``[n, WIDTH]`` → ``[n, VOCABULARY]``."""
        import numpy

        norm = numpy.sqrt((hidden**2).mean(axis=-1, keepdims=True) + 1e-6)
        return (hidden / norm) @ self.head

    def alone(self, prompt: tuple[int, ...], count: int, scales: list[float]) -> list[Any]:
        """The logits before each of ``count`` new tokens of a request that runs alone.

        Returns:
            For each step the logits ``[VOCABULARY]``; the token is their largest.
        """
        import numpy

        heads, kv_heads = self.cell.heads
        keys: list[list[Any]] = [[] for _ in range(LAYERS)]
        values: list[list[Any]] = [[] for _ in range(LAYERS)]
        pending, position, found = list(prompt), 0, []
        for _ in range(count):
            rows = numpy.stack([self.embed(t, position + i) for i, t in enumerate(pending)])
            position += len(pending)
            for layer in range(LAYERS):
                keys[layer] += list((rows @ self.k[layer]).reshape(len(rows), kv_heads, -1))
                values[layer] += list((rows @ self.v[layer]).reshape(len(rows), kv_heads, -1))
                out = oracle.attention(
                    (rows @ self.q[layer]).reshape(len(rows), heads, -1),
                    numpy.stack(keys[layer]),
                    numpy.stack(values[layer]),
                    scales[layer],
                )
                rows = rows + out.reshape(len(rows), -1) @ self.o[layer]
            found.append(self.logits(rows[-1:])[0])
            pending = [int(found[-1].argmax())]
        return found


@functools.lru_cache(maxsize=8)
def model(cell: Cell) -> Model:
    """The model for a cell's heads."""
    return Model(cell)


def forward(bench: Bench, step: Any, tokens: list[int]) -> Any:
    """Run a prepared step on the backend under test; the logits of every row, float64."""
    import numpy
    import torch

    from sglang_contracts.suite.violation import ask

    weights = model(bench.cell)
    positions = [
        position
        for start, count in zip(step.starts, step.counts, strict=True)
        for position in range(start, start + count)
    ]
    rows = numpy.stack([weights.embed(t, p) for t, p in zip(tokens, positions, strict=True)])
    dtype = bench.geometry.torch_dtype
    with bench.serving(step):
        for layer in range(LAYERS):
            q, k, v = (
                torch.from_numpy(rows @ part[layer]).to(dtype).to(bench.device)
                for part in (weights.q, weights.k, weights.v)
            )
            out = ask(
                f"{step.mode} of {len(step.requests)} interleaved requests",
                bench.layers[layer],
                q,
                k,
                v,
                step.batch,
            )
            rows = rows + out.to("cpu").double().numpy() @ weights.o[layer]
    return weights.logits(rows)
