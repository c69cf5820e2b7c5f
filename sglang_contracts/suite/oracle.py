"""What attention must give, in float64 and by the textbook: written apart from any backend.

It knows neither pools nor pages nor batches: one request at a time, its keys and values in order.
"""

from __future__ import annotations

from typing import Any

TOLERANCE = {"float32": 3e-5, "float16": 5e-3, "bfloat16": 4e-2}
"""Largest difference allowed from a token's result, as a share of that result's root mean square:
what rounding the result to the dtype, and one softmax in it, can cost. A result over a thousand
keys is a mean of a thousand values and as much smaller: held to what suits a short one, it could as
well be zero."""

LEAST = 0.02
"""The root mean square that a smaller one counts as: accumulating has its own rounding."""


def allowed(wanted: Any, dtype: str) -> Any:
    """How far each token's result may be off.

    Args:
        wanted: float64 array ``[T, ...]``, what must come out.
        dtype: Name of the torch dtype in which it comes.

    Returns:
        float64 array ``[T, 1]``.
    """
    import numpy

    rows = wanted.reshape(len(wanted), -1)
    size = numpy.sqrt((rows**2).mean(axis=1, keepdims=True))
    return TOLERANCE[dtype] * size.clip(LEAST, 1.0)


_ROWS = 64
"""Queries worked out at a time: the scores of a long request would not fit in the cache."""


def attention(
    q: Any,
    keys: Any,
    values: Any,
    scale: float,
    window: int = -1,
    *,
    cap: float = 0.0,
    sinks: Any = None,
    causal: bool = True,
) -> Any:
    """Attention of a request's last ``n`` tokens over all its ``L`` tokens.

    Args:
        q: Array ``[n, Hq, D]``.
        keys: Array ``[L, Hkv, D]``; ``Hq`` is a multiple of ``Hkv``, neighbours share a head.
        values: Array ``[L, Hkv, Dv]``.
        scale: Factor on the scores.
        window: Keys to the left of a query that it sees, its own not counted; -1: all.
        cap: Scores are ``cap * tanh(score / cap)``; 0: as they are.
        sinks: Array ``[Hq]``: for each head one more score that takes weight and gives nothing.
        causal: Whether a query sees no key after its own.

    Returns:
        float64 array ``[n, Hq, Dv]``.
    """
    import numpy

    q, keys, values = (numpy.asarray(part, dtype=numpy.float64) for part in (q, keys, values))
    count, length = q.shape[0], keys.shape[0]
    group = q.shape[1] // keys.shape[1]
    queries = q.transpose(1, 0, 2) * scale  # [Hq, n, D]
    keys = keys.repeat(group, axis=1).transpose(1, 2, 0)  # [Hq, D, L]
    values = values.repeat(group, axis=1).transpose(1, 0, 2)  # [Hq, L, Dv]
    out = numpy.empty((count, q.shape[1], values.shape[2]))
    for first in range(0, count, _ROWS):
        rows = slice(first, min(first + _ROWS, count))
        places = numpy.arange(length - count + rows.start, length - count + rows.stop)
        seen = slice(0, places[-1] + 1 if causal else length)
        distance = places[:, None] - numpy.arange(length)[None, seen]
        hidden = (distance < 0) & causal
        if window >= 0:
            hidden |= distance > window
        scores = queries[:, rows] @ keys[:, :, seen]
        if cap:
            scores = cap * numpy.tanh(scores / cap)
        numpy.copyto(scores, -numpy.inf, where=hidden)
        largest = scores.max(axis=2, keepdims=True)
        lost = 0.0
        if sinks is not None:
            sink = numpy.asarray(sinks, dtype=numpy.float64)[:, None, None]
            largest = numpy.maximum(largest, sink)
            lost = numpy.exp(sink - largest)
        scores -= largest
        weights = numpy.exp(scores, out=scores)
        weights /= weights.sum(axis=2, keepdims=True) + lost
        out[rows] = (weights @ values[:, seen]).transpose(1, 0, 2)
    return out
