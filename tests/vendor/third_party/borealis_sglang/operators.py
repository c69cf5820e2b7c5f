"""The kernels, as torch operators that take the lengths on the host, too."""

import torch

SCHEMA = (
    "(Tensor q, Tensor k, Tensor v, Tensor slots, Tensor lens_cpu, Tensor new_cpu, float scale)"
)
KEPT = []  # with the library the operators would go


def _attention(q, k, v, slots, lens_cpu, new_cpu, scale):
    outs, start, first = [], 0, 0
    group = q.shape[1] // k.shape[1]
    for length, count in zip(lens_cpu.tolist(), new_cpu.tolist(), strict=True):
        mine = slots[first : first + length]
        keys = k[mine].float().repeat_interleave(group, 1)
        values = v[mine].float().repeat_interleave(group, 1)
        scores = torch.einsum("qhd,khd->hqk", q[start : start + count].float(), keys) * scale
        seen = torch.ones(count, length, dtype=torch.bool, device=q.device).tril(length - count)
        weights = scores.masked_fill(~seen, float("-inf")).softmax(-1)
        outs.append(torch.einsum("hqk,khd->qhd", weights, values).to(q.dtype))
        start, first = start + count, first + length
    outs.append(q.new_zeros(q.shape[0] - start, q.shape[1], v.shape[2]))  # tokens of padding
    return torch.cat(outs)


def define():
    """Make ``torch.ops.borealis.attention_extend`` and ``…decode``, once."""
    if KEPT:
        return
    library = torch.library.Library("borealis", "FRAGMENT")
    for name in ("attention_extend", "attention_decode"):
        library.define(f"{name}{SCHEMA} -> Tensor")
        library.impl(name, _attention, "CompositeExplicitAutograd")
    KEPT.append(library)
