"""What attention must give, in float64 and by the textbook: written apart from any backend.

It knows neither pools nor pages: it takes each request's keys and values in order, as
:class:`~sglang_contracts.live.world.Request` keeps them, and loops over requests and heads.
"""

from __future__ import annotations

from typing import Any

TOLERANCE = {"float32": 2e-5, "float16": 4e-3, "bfloat16": 3e-2}
"""Largest absolute difference allowed, for inputs of unit variance: what rounding to the dtype and
one softmax in it can cost."""


def attention(q: Any, keys: Any, values: Any, scale: float) -> Any:
    """Causal attention of a request's last ``n`` tokens over all its tokens.

    Args:
        q: Array ``[n, Hq, D]``: queries of the last ``n`` of ``L`` tokens.
        keys: Array ``[L, Hkv, D]``; ``Hq`` is a multiple of ``Hkv``, neighbours share a head.
        values: Array ``[L, Hkv, Dv]``.
        scale: Factor on the scores.

    Returns:
        float64 array ``[n, Hq, Dv]``.
    """
    import numpy

    q, keys, values = (numpy.asarray(part, dtype=numpy.float64) for part in (q, keys, values))
    count, heads, length = q.shape[0], q.shape[1], keys.shape[0]
    group = heads // keys.shape[1]
    position = numpy.arange(length - count, length)
    hidden = numpy.arange(length)[None] > position[:, None]
    result = numpy.empty((count, heads, values.shape[2]))
    for head in range(heads):
        scores = (q[:, head] @ keys[:, head // group].T) * scale
        scores[hidden] = -numpy.inf
        weights = numpy.exp(scores - scores.max(axis=1, keepdims=True))
        weights /= weights.sum(axis=1, keepdims=True)
        result[:, head] = weights @ values[:, head // group]
    return result


def expected(world: Any, step: Any, layer: int, q: Any) -> Any:
    """What ``world.attend(step, layer, q, k, v)`` must return, once it was called.

    Args:
        world: A :class:`~sglang_contracts.live.world.World`.
        step: The pass.
        layer: The layer attended.
        q: The queries given to it, ``[T, Hq * D]``.

    Returns:
        float64 array ``[T, Hq * Dv]``.
    """
    import numpy

    geometry, offset, parts = world.geometry, 0, []
    for request, count in zip(step.requests, step.new_lens, strict=True):
        rows = _array(q[offset : offset + count]).reshape(
            count, geometry.num_heads, geometry.head_dim
        )
        keys = numpy.stack([_array(key) for key in request.keys[layer]])
        values = numpy.stack([_array(value) for value in request.values[layer]])
        total = len(keys)
        out = attention(
            rows,
            keys.reshape(total, geometry.num_kv_heads, geometry.head_dim),
            values.reshape(total, geometry.num_kv_heads, geometry.value_dim),
            geometry.head_dim**-0.5,
        )
        parts.append(out.reshape(count, -1))
        offset += count
    width = geometry.num_heads * geometry.value_dim
    return numpy.concatenate(parts) if parts else numpy.empty((0, width))


def _array(tensor: Any) -> Any:
    return tensor.detach().to("cpu").double().numpy()
