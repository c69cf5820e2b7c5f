"""Attention kernels of `kunlun_ops`: prefill (raw and prefix-cache form) and decode.

Call forms as public Kunlun plugins use them (`docs/reference-backend.md` lists the sources).
Caches are `[blocks, kv heads, block size, head dim]` with any strides; a `lod` is the int32
vector of cumulative lengths, `[requests + 1]`, given once for the host and once for the card.

Everything is computed in float32 over whole batches: requests are padded to a rectangle and
masked, and a single request takes two mask-free parts (its prefix, then its own causal block)
that are merged by their log-sum-exps, so that a long prompt never needs a quadratic mask.
"""

from __future__ import annotations

import math

import torch
from sglang_contracts.fakes.kunlun_sdk.launch import kernel, planned

MASK_ELEMENTS = 1 << 25
"""Elements of one additive mask (float32, so 128 MiB); more query rows than fit are tiled."""

_flash = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu


def _fused(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    scale: float,
    *,
    causal: bool = False,
    mask: torch.Tensor | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Fused attention over `[B, H, Q|K, D]`, float32.

    Returns:
        The result `[B, H, Q, Dv]` and the log-sum-exp of each row `[B, H, Q]`.
    """
    width, v_width = q.shape[-1], v.shape[-1]
    if v_width > width:  # the fused kernel wants one head dim: pad with zeros, cut after
        q, k = (torch.nn.functional.pad(x, (0, v_width - width)) for x in (q, k))
    elif v_width < width:
        v = torch.nn.functional.pad(v, (0, width - v_width))
    out, lse = _flash(q, k, v, 0.0, causal, attn_mask=mask, scale=scale)
    return out[..., :v_width], lse


def _merge(
    first: tuple[torch.Tensor, torch.Tensor], second: tuple[torch.Tensor, torch.Tensor]
) -> tuple[torch.Tensor, torch.Tensor]:
    """Join attention over two disjoint sets of keys by their log-sum-exps."""
    lse = torch.logaddexp(first[1], second[1])
    weights = [torch.exp(part[1] - lse).unsqueeze(-1) for part in (first, second)]
    return first[0] * weights[0] + second[0] * weights[1], lse


def _heads(x: torch.Tensor, groups: int) -> torch.Tensor:
    """`[B, K, Hkv, D]` → `[B, Hkv * groups, K, D]`, float32, each key head shown `groups` times."""
    batch, length, heads, width = x.shape
    x = x.float().permute(0, 2, 1, 3).unsqueeze(2).expand(batch, heads, groups, length, width)
    return x.reshape(batch, heads * groups, length, width)


def _gather_blocks(
    cache: torch.Tensor, block_table: torch.Tensor, kv_lens: torch.Tensor, length: int
) -> torch.Tensor:
    """Read each request's slots: `[B, length, Hkv, D]` of the cache's dtype.

    Beyond its length a request shows its own last slot again: no foreign slot is ever read, so
    whatever stands there (NaN included) cannot reach a result.
    """
    block = cache.shape[2]
    positions = torch.arange(length, device=kv_lens.device)
    positions = torch.minimum(positions[None], (kv_lens - 1).clamp(min=0)[:, None])
    blocks = block_table.long().gather(1, positions // block)
    return cache.transpose(1, 2)[blocks, positions % block]


def _gather_rows(x: torch.Tensor, lod: torch.Tensor, length: int) -> torch.Tensor:
    """Pad ragged rows `[T, H, D]` to `[B, length, H, D]`; rows beyond a request repeat its end."""
    start, end = lod[:-1].long(), lod[1:].long()
    index = start[:, None] + torch.arange(length, device=x.device)[None]
    index = torch.minimum(index, (end - 1).clamp(min=0)[:, None]).clamp(max=x.shape[0] - 1)
    return x[index]


def _mask(
    q_positions: torch.Tensor,
    kv_lens: torch.Tensor,
    length: int,
    *,
    causal: bool,
    left: int,
    right: int,
) -> torch.Tensor:
    """Additive mask `[B, 1, Q, length]` for absolute query positions `[B, Q]`."""
    keys = torch.arange(length, device=q_positions.device)
    distance = q_positions[:, :, None] - keys[None, None]
    hidden = keys[None, None] >= kv_lens[:, None, None]
    if causal:
        hidden = hidden | (distance < 0)
    if left >= 0:
        hidden = hidden | (distance > left)
    if right >= 0:
        hidden = hidden | (distance < -right)
    mask = torch.zeros(hidden.shape, dtype=torch.float32, device=hidden.device)
    return mask.masked_fill_(hidden, float("-inf")).unsqueeze(1)


def _single(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, scale: float, *, causal: bool
) -> tuple[torch.Tensor, torch.Tensor]:
    """One request, no window: prefix without a mask, own block causal, merged."""
    own = q.shape[2]
    prefix = k.shape[2] - own
    if not causal:
        return _fused(q, k, v, scale)
    last = _fused(q, k[:, :, prefix:], v[:, :, prefix:], scale, causal=True)
    if prefix == 0:
        return last
    return _merge(_fused(q, k[:, :, :prefix], v[:, :, :prefix], scale), last)


def _attend(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    q_lens: torch.Tensor,
    kv_lens: torch.Tensor,
    scale: float,
    *,
    causal: bool,
    left: int,
    right: int,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Attention over padded `[B, H, Q, D]` and `[B, H, K, D]`, aligned at each request's end."""
    batch, _, rows, _ = q.shape
    length = k.shape[2]
    if batch == 1 and left < 0 and right < 0 and (not causal or rows <= length):
        return _single(q, k, v, scale, causal=causal)
    offsets = torch.arange(rows, device=q.device)
    # Padding rows stand at their request's last query, so that every row sees a key.
    offsets = torch.minimum(offsets[None], (q_lens - 1).clamp(min=0)[:, None])
    positions = (kv_lens - q_lens)[:, None] + offsets
    tile = max(1, MASK_ELEMENTS // max(1, batch * length))
    parts = [
        _fused(
            q_part,
            k,
            v,
            scale,
            mask=_mask(p_part, kv_lens, length, causal=causal, left=left, right=right),
        )
        for q_part, p_part in zip(
            torch.split(q, tile, 2), torch.split(positions, tile, 1), strict=True
        )
    ]
    return torch.cat([part[0] for part in parts], 2), torch.cat([part[1] for part in parts], 2)


def _apply_sink(out: torch.Tensor, lse: torch.Tensor, sink: torch.Tensor | None) -> torch.Tensor:
    """Give each head a further logit that takes weight and adds nothing (`[H]`)."""
    if sink is None:
        return out
    return out * torch.sigmoid(lse - sink.float()[None, :, None]).unsqueeze(-1)


@kernel("kunlun_ops")
def prefill_attention(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    out: torch.Tensor,
    is_causal: bool = True,
    is_prefix_cache: bool = False,
    block_table: torch.Tensor | None = None,
    context_qlen_lod_cpu: torch.Tensor | None = None,
    context_qlen_lod_xpu: torch.Tensor | None = None,
    context_kvlen_lod_cpu: torch.Tensor | None = None,
    context_kvlen_lod_xpu: torch.Tensor | None = None,
    alibi_slopes: torch.Tensor | None = None,
    softmax_lse: torch.Tensor | None = None,
    swa_right: int = -1,
    swa_left: int = -1,
    sink: torch.Tensor | None = None,
    alpha: float = 1.0,
) -> None:
    """Attention for many query tokens a request; the result goes into `out`.

    Args:
        q: `[T, H, D]`.
        k: `[T, Hkv, D]` in raw form; `[blocks, Hkv, block size, D]` in prefix-cache form, where
            the request's last `qlen` slots are the queries' own.
        v: As `k`, with its own head dim.
        out: `[T, H, Dv]`, written.
        is_causal: A query sees no later key. Prefix-cache form is causal in any case.
        is_prefix_cache: Chooses the form.
        block_table: int32 `[requests, blocks]`, prefix-cache form only.
        context_qlen_lod_cpu: int32 `[requests + 1]`, host: what is launched for.
        context_qlen_lod_xpu: The same on the device.
        context_kvlen_lod_cpu: int32 `[requests + 1]`, host; raw form defaults to the queries'.
        context_kvlen_lod_xpu: The same on the device.
        alibi_slopes: Not served by the shim.
        softmax_lse: float32 `[H, T]`, written if given.
        swa_right: Keys to the right that a query sees; -1 for all.
        swa_left: Keys to the left that a query sees; -1 for all.
        sink: float32 `[H]`, attention sinks.
        alpha: Factor on the scale `1 / sqrt(D)`.

    Raises:
        NotImplementedError: `alibi_slopes` is given.
        ValueError: A `lod` or the block table is missing.
    """
    if alibi_slopes is not None:
        raise NotImplementedError("kunlun_ops.prefill_attention: the shim has no ALiBi")
    q_lod = context_qlen_lod_xpu
    kv_lod = context_kvlen_lod_xpu if context_kvlen_lod_xpu is not None else q_lod
    if q_lod is None or kv_lod is None or context_qlen_lod_cpu is None:
        raise ValueError("kunlun_ops.prefill_attention: context_qlen_lod_cpu/_xpu are required")
    if q.shape[0] == 0:
        return
    q_lens = planned(q_lod.diff().long(), context_qlen_lod_cpu.diff())
    host = context_kvlen_lod_cpu if context_kvlen_lod_xpu is not None else context_qlen_lod_cpu
    kv_lens = planned(kv_lod.diff().long(), host.diff() if host is not None else None)
    rows, length = max(1, int(q_lens.max())), max(1, int(kv_lens.max()))
    if is_prefix_cache:
        if block_table is None:
            raise ValueError("kunlun_ops.prefill_attention: prefix-cache form wants block_table")
        keys = _gather_blocks(k, block_table, kv_lens, length)
        values = _gather_blocks(v, block_table, kv_lens, length)
    else:
        keys, values = _gather_rows(k, kv_lod, length), _gather_rows(v, kv_lod, length)
    groups = q.shape[1] // keys.shape[2]
    result, lse = _attend(
        _gather_rows(q, q_lod, rows).float().transpose(1, 2),
        _heads(keys, groups),
        _heads(values, groups),
        q_lens,
        kv_lens,
        alpha / math.sqrt(q.shape[-1]),
        causal=is_causal or is_prefix_cache,
        left=swa_left,
        right=swa_right,
    )
    result = _apply_sink(result, lse, sink)
    tokens = torch.arange(q.shape[0], device=q.device)
    owner = torch.searchsorted(q_lod[1:].long(), tokens, right=True)
    owner = owner.clamp(max=q_lens.shape[0] - 1)
    place = (tokens - q_lod.long()[owner]).clamp(max=rows - 1)
    out.copy_(result[owner, :, place])
    if softmax_lse is not None:
        softmax_lse.copy_(lse[owner, :, place].transpose(0, 1))


@kernel("kunlun_ops")
def speculative_attention(
    out: torch.Tensor,
    q: torch.Tensor,
    k_cache: torch.Tensor,
    v_cache: torch.Tensor,
    context_lens_cpu: torch.Tensor,
    context_lens_xpu: torch.Tensor,
    batch_num: int,
    qlen: int,
    max_context_len: int,
    head_num: int,
    head_dim: int,
    scale: float,
    kv_head_num: int,
    block_size: int,
    max_num_blocks_per_seq: int,
    max_window_size: int = -1,
    block_tables: torch.Tensor | None = None,
    sink: torch.Tensor | None = None,
    qlod_cpu: torch.Tensor | None = None,
    qlod_xpu: torch.Tensor | None = None,
) -> None:
    """Decode attention: `qlen` query tokens a request over its paged cache, into `out`.

    Args:
        out: `[batch_num, qlen, H, Dv]` (or that many elements), written.
        q: `[batch_num, qlen, H, D]`.
        k_cache: `[blocks, Hkv, block_size, D]`.
        v_cache: `[blocks, Hkv, block_size, Dv]`.
        context_lens_cpu: int32 `[batch_num]`, keys of each request with its own, host.
        context_lens_xpu: The same on the device; what the kernel goes by, within what it was
            launched for.
        batch_num: Requests.
        qlen: Query tokens of each; 1 in ordinary decoding.
        max_context_len: Upper bound of `context_lens`.
        head_num: H.
        head_dim: D.
        scale: Softmax scale; 0.0 means `1 / sqrt(D)`.
        kv_head_num: Hkv.
        block_size: Slots of a block.
        max_num_blocks_per_seq: Columns of `block_tables`.
        max_window_size: Keys that a query sees, itself included; -1 for all.
        block_tables: int32 `[batch_num, max_num_blocks_per_seq]`.
        sink: float32 `[H]`, attention sinks.
        qlod_cpu: Ragged queries are not served by the shim.
        qlod_xpu: The same on the device.

    Raises:
        NotImplementedError: Ragged queries.
        ValueError: No block table, or sizes that contradict the tensors.
    """
    if qlod_cpu is not None or qlod_xpu is not None:
        raise NotImplementedError("kunlun_ops.speculative_attention: no ragged queries in the shim")
    if block_tables is None:
        raise ValueError("kunlun_ops.speculative_attention: block_tables is required")
    if (kv_head_num, block_size) != tuple(v_cache.shape[1:3]):
        raise ValueError(
            "kunlun_ops.speculative_attention: v_cache is "
            f"{tuple(v_cache.shape)}, but kv_head_num={kv_head_num}, block_size={block_size}"
        )
    if batch_num == 0:
        return
    kv_lens = planned(context_lens_xpu.long(), context_lens_cpu)
    length = min(max(1, int(kv_lens.max())), max_context_len)
    keys = _gather_blocks(k_cache, block_tables[:batch_num], kv_lens, length)
    values = _gather_blocks(v_cache, block_tables[:batch_num], kv_lens, length)
    groups = head_num // kv_head_num
    queries = q.reshape(batch_num, qlen, kv_head_num, groups, head_dim).float()
    # The queries of a group share their key head: fold them into its rows, nothing is repeated.
    queries = queries.permute(0, 2, 3, 1, 4).reshape(batch_num, kv_head_num, groups * qlen, -1)
    steps = torch.arange(qlen, device=q.device).repeat(groups)
    positions = ((kv_lens - qlen)[:, None] + steps[None]).clamp(min=0)
    result, lse = _fused(
        queries,
        _heads(keys, 1),
        _heads(values, 1),
        scale or 1.0 / math.sqrt(head_dim),
        mask=_mask(
            positions,
            kv_lens.clamp(min=1),  # a padding row of a captured batch has no key: it sees one
            length,
            causal=True,
            left=max_window_size - 1 if max_window_size >= 0 else -1,
            right=-1,
        ),
    )
    result = result.reshape(batch_num, head_num, qlen, -1)
    result = _apply_sink(result, lse.reshape(batch_num, head_num, qlen), sink)
    out.copy_(result.transpose(1, 2).reshape(out.shape))
