"""The kernels are torch operators that take lengths on the host beside those on the device."""

import dataclasses

import torch

NAME = "The kernels are torch operators that take lengths on the host beside those on the device"
FAMILIES = (
    "attention-backend.prefill-eq",
    "attention-backend.decode-eq",
    "attention-backend.prefix-is",
    "attention-backend.results-are",
    "attention-backend.free-slots",
    "kernels.",
    "decode.",
    "prefill.",
    "kv-path.never",
    "graph.replay-eq",
)


EXTEND = (
    "attention_extend(Tensor q, Tensor k, Tensor v, Tensor(a!) out, Tensor? tables, "
    "Tensor q_lod_cpu, Tensor q_lod, Tensor kv_lod_cpu, Tensor kv_lod, bool cached, int left, "
    "int right, Tensor? sink, float alpha) -> ()"
)
DECODE = (
    "attention_decode(Tensor(a!) out, Tensor q, Tensor k, Tensor v, Tensor lens_cpu, Tensor lens, "
    "Tensor tables, int longest, float scale, int window, Tensor? sink) -> ()"
)


def _extend(
    q, k, v, out, tables, q_lod_cpu, q_lod, kv_lod_cpu, kv_lod, cached, left, right, sink, alpha
):
    import kunlun_ops

    kunlun_ops.prefill_attention(
        q=q,
        k=k,
        v=v,
        out=out,
        is_causal=True,
        is_prefix_cache=cached,
        block_table=tables,
        context_qlen_lod_cpu=q_lod_cpu,
        context_qlen_lod_xpu=q_lod,
        context_kvlen_lod_cpu=kv_lod_cpu,
        context_kvlen_lod_xpu=kv_lod,
        swa_left=left,
        swa_right=right,
        sink=sink,
        alpha=alpha,
    )


def _decode(out, q, k, v, lens_cpu, lens, tables, longest, scale, window, sink):
    import kunlun_ops

    kunlun_ops.speculative_attention(
        out=out,
        q=q,
        k_cache=k,
        v_cache=v,
        context_lens_cpu=lens_cpu,
        context_lens_xpu=lens,
        batch_num=q.shape[0],
        qlen=1,
        max_context_len=longest,
        head_num=q.shape[2],
        head_dim=q.shape[3],
        scale=scale,
        kv_head_num=v.shape[1],
        block_size=v.shape[2],
        max_num_blocks_per_seq=tables.shape[1],
        max_window_size=window,
        block_tables=tables,
        sink=sink,
    )


def _define():
    if hasattr(torch.ops.legal_contracts, "attention_decode"):
        return
    library = torch.library.Library("legal_contracts", "FRAGMENT")
    for schema, function in ((EXTEND, _extend), (DECODE, _decode)):
        library.define(schema)
        library.impl(schema.partition("(")[0], function, "CompositeExplicitAutograd")
    KEPT.append(library)  # with it the operators would go


KEPT = []


class Operators:
    """The reference's kernels by their torch operators."""

    def prefill_attention(self, *, is_causal, is_prefix_cache, block_table, **given):
        torch.ops.legal_contracts.attention_extend(
            given["q"],
            given["k"],
            given["v"],
            given["out"],
            block_table,
            given["context_qlen_lod_cpu"],
            given["context_qlen_lod_xpu"],
            given["context_kvlen_lod_cpu"],
            given["context_kvlen_lod_xpu"],
            is_prefix_cache,
            given["swa_left"],
            given["swa_right"],
            given["sink"],
            given["alpha"],
        )

    def speculative_attention(self, **given):
        torch.ops.legal_contracts.attention_decode(
            given["out"],
            given["q"],
            given["k_cache"],
            given["v_cache"],
            given["context_lens_cpu"],
            given["context_lens_xpu"],
            given["block_tables"],
            given["max_context_len"],
            given["scale"],
            given["max_window_size"],
            given["sink"],
        )


def make(reference):
    _define()

    class Variant(reference.make_backend):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            self._ops = Operators()

    kernels = {
        "prefill": ("torch.ops.legal_contracts.attention_extend",),
        "decode": ("torch.ops.legal_contracts.attention_decode",),
    }
    capabilities = dataclasses.replace(reference.capabilities, kernels=kernels)
    return dataclasses.replace(reference, make_backend=Variant, capabilities=capabilities)
