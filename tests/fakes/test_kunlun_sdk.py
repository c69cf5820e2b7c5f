"""The SDK stand-in: its kernels against float64 arithmetic written apart, and its manners."""

import ast
import importlib.machinery
import sys
import types
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch")

from sglang_contracts.fakes import kunlun_sdk  # noqa: E402

from sglang_contracts.errors import ContractsError  # noqa: E402 - after the skip


@pytest.fixture(scope="module", autouse=True)
def shim():
    present = kunlun_sdk.installed()
    kunlun_sdk.install()
    yield
    if not present:
        kunlun_sdk.uninstall()


@pytest.fixture(scope="module")
def ops():
    import kunlun_ops

    return kunlun_ops


# Attention, against one request, one head, one query at a time.


def attention(q, k, v, scale, *, causal=True, window=-1, sink=None):
    """``q [Q, H, D]`` over ``k [K, Hkv, D]``: float64 ``[Q, H, Dv]``, the queries at the end."""
    q, k, v = (np.asarray(x, np.float64) for x in (q, k, v))
    sink = None if sink is None else np.asarray(sink, np.float64)
    out = np.zeros((*q.shape[:2], v.shape[-1]))
    for row in range(q.shape[0]):
        position = k.shape[0] - q.shape[0] + row
        last = position + 1 if causal else k.shape[0]
        first = max(0, position - window) if window >= 0 else 0
        for head in range(q.shape[1]):
            shared = head // (q.shape[1] // k.shape[1])
            scores = scale * k[first:last, shared] @ q[row, head]
            top = scores.max() if sink is None else max(scores.max(), sink[head])
            weights = np.exp(scores - top)
            total = weights.sum() + (0 if sink is None else np.exp(sink[head] - top))
            out[row, head] = weights @ v[first:last, shared] / total
    return out


def lod(lens):
    return torch.tensor([0, *np.cumsum(lens)], dtype=torch.int32)


class Cache:
    """A paged cache full of NaN but for the slots that requests own."""

    def __init__(self, lens, heads, dims, page, seed, layout="nhd"):
        random = torch.Generator().manual_seed(seed)
        blocks = sum(-(-n // page) for n in lens) + 2
        order = torch.randperm(blocks, generator=random).tolist()
        self.table = torch.zeros(len(lens), max(-(-n // page) for n in lens), dtype=torch.int32)
        self.keys = [torch.randn(n, heads, dims[0], generator=random) for n in lens]
        self.values = [torch.randn(n, heads, dims[1], generator=random) for n in lens]
        caches = [torch.full((blocks, page, heads, d), torch.nan) for d in dims]
        for row, n in enumerate(lens):
            for position in range(n):
                if position % page == 0:
                    self.table[row, position // page] = order.pop()
                block = int(self.table[row, position // page])
                caches[0][block, position % page] = self.keys[row][position]
                caches[1][block, position % page] = self.values[row][position]
        self.k, self.v = (c.transpose(1, 2) for c in caches)
        if layout == "hnd":
            self.k, self.v = self.k.contiguous(), self.v.contiguous()


requests = st.lists(st.tuples(st.integers(1, 9), st.integers(0, 20)), min_size=1, max_size=4)
heads = st.sampled_from([(4, 2), (4, 4), (6, 1)])
dims = st.sampled_from([(16, 16), (16, 8), (8, 16)])


@settings(deadline=None, max_examples=60)
@given(
    requests=requests,
    heads=heads,
    dims=dims,
    page=st.sampled_from([1, 4, 16]),
    window=st.sampled_from([-1, 0, 3]),
    sinks=st.booleans(),
    alpha=st.sampled_from([1.0, 0.5]),
    layout=st.sampled_from(["nhd", "hnd"]),
    seed=st.integers(0, 99),
)
def test_prefill_over_the_cache_equals_float64(
    ops, requests, heads, dims, page, window, sinks, alpha, layout, seed
):
    own = [a for a, _ in requests]
    total = [a + b for a, b in requests]
    cache = Cache(total, heads[1], dims, page, seed, layout)
    random = torch.Generator().manual_seed(seed + 1)
    q = torch.randn(sum(own), heads[0], dims[0], generator=random)
    sink = torch.randn(heads[0], generator=random) if sinks else None
    out = torch.full((sum(own), heads[0], dims[1]), torch.nan)
    lse = torch.full((heads[0], sum(own)), torch.nan)
    ops.prefill_attention(
        q=q,
        k=cache.k,
        v=cache.v,
        out=out,
        is_causal=True,
        is_prefix_cache=True,
        block_table=cache.table,
        context_qlen_lod_cpu=lod(own),
        context_qlen_lod_xpu=lod(own),
        context_kvlen_lod_cpu=lod(total),
        context_kvlen_lod_xpu=lod(total),
        softmax_lse=lse,
        swa_left=window,
        swa_right=0 if window >= 0 else -1,
        sink=sink,
        alpha=alpha,
    )
    expected = [
        attention(rows, k, v, alpha * dims[0] ** -0.5, window=window, sink=sink)
        for rows, k, v in zip(q.split(own), cache.keys, cache.values, strict=True)
    ]
    np.testing.assert_allclose(out.numpy(), np.concatenate(expected), rtol=0, atol=5e-6)
    assert torch.isfinite(lse).all()


@settings(deadline=None, max_examples=40)
@given(
    own=st.lists(st.integers(1, 20), min_size=1, max_size=4),
    heads=heads,
    dims=dims,
    causal=st.booleans(),
    seed=st.integers(0, 99),
)
def test_prefill_over_raw_keys_equals_float64(ops, own, heads, dims, causal, seed):
    random = torch.Generator().manual_seed(seed)
    q, k, v = (
        torch.randn(sum(own), h, d, generator=random)
        for h, d in ((heads[0], dims[0]), (heads[1], dims[0]), (heads[1], dims[1]))
    )
    out = torch.full((sum(own), heads[0], dims[1]), torch.nan)
    ops.prefill_attention(
        q=q,
        k=k,
        v=v,
        out=out,
        is_causal=causal,
        is_prefix_cache=False,
        context_qlen_lod_cpu=lod(own),
        context_qlen_lod_xpu=lod(own),
    )
    expected = [
        attention(*parts, dims[0] ** -0.5, causal=causal)
        for parts in zip(q.split(own), k.split(own), v.split(own), strict=True)
    ]
    np.testing.assert_allclose(out.numpy(), np.concatenate(expected), rtol=0, atol=5e-6)


def test_a_long_prefill_is_tiled_and_stays_right(ops, monkeypatch):
    """Several requests whose mask would not fit: rows are taken in parts."""
    from sglang_contracts.fakes.kunlun_sdk import attention as module

    monkeypatch.setattr(module, "MASK_ELEMENTS", 64)
    test_prefill_over_the_cache_equals_float64.hypothesis.inner_test(
        ops, [(9, 3), (5, 0)], (4, 2), (16, 16), 4, -1, False, 1.0, "nhd", 0
    )


@settings(deadline=None, max_examples=60)
@given(
    lens=st.lists(st.integers(1, 40), min_size=1, max_size=5),
    heads=heads,
    dims=dims,
    page=st.sampled_from([1, 4, 16]),
    window=st.sampled_from([-1, 3]),
    scale=st.sampled_from([0.0, 0.1]),
    steps=st.sampled_from([1, 2]),
    seed=st.integers(0, 99),
)
def test_decode_equals_float64(ops, lens, heads, dims, page, window, scale, steps, seed):
    lens = [max(n, steps) for n in lens]
    cache = Cache(lens, heads[1], dims, page, seed)
    q = torch.randn(len(lens), steps, heads[0], dims[0], generator=torch.Generator().manual_seed(1))
    out = torch.full((len(lens), steps, heads[0], dims[1]), torch.nan)
    context = torch.tensor(lens, dtype=torch.int32)
    ops.speculative_attention(
        out=out,
        q=q,
        k_cache=cache.k,
        v_cache=cache.v,
        context_lens_cpu=context,
        context_lens_xpu=context,
        batch_num=len(lens),
        qlen=steps,
        max_context_len=cache.table.shape[1] * page,
        head_num=heads[0],
        head_dim=dims[0],
        scale=scale,
        kv_head_num=heads[1],
        block_size=page,
        max_num_blocks_per_seq=cache.table.shape[1],
        max_window_size=window + 1 if window >= 0 else -1,
        block_tables=cache.table,
    )
    expected = [
        attention(rows, k, v, scale or dims[0] ** -0.5, window=window)
        for rows, k, v in zip(q, cache.keys, cache.values, strict=True)
    ]
    np.testing.assert_allclose(out.numpy(), np.stack(expected), rtol=0, atol=5e-6)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision_rounds_once(ops, dtype):
    q, k, v = (torch.randn(30, 2, 16, generator=torch.Generator().manual_seed(i)) for i in range(3))
    q, k, v = (x.to(dtype) for x in (q, k, v))
    out = torch.empty(30, 2, 16, dtype=dtype)
    ops.prefill_attention(
        q=q, k=k, v=v, out=out, context_qlen_lod_cpu=lod([30]), context_qlen_lod_xpu=lod([30])
    )
    expected = attention(q.float(), k.float(), v.float(), 0.25)
    step = torch.finfo(dtype).eps
    assert (
        np.abs(out.double().numpy() - expected) <= step * np.maximum(np.abs(expected), 0.1)
    ).all()


# The other kernels.


@pytest.mark.parametrize("page", [None, 1, 4])
def test_cache_writes_reach_their_slots_and_no_others(ops, page):
    k, v = torch.randn(3, 2, 8), torch.randn(3, 2, 4)
    slots = torch.tensor([9, 0, 6], dtype=torch.int32)
    caches = [torch.zeros(12, 2, d) for d in (8, 4)]
    shaped = caches
    if page is not None:
        shaped = [c.view(12 // page, page, 2, -1).transpose(1, 2) for c in caches]
    ops.reshape_and_cache(k, v, *shaped, slots, None, None, 0)
    for cache, rows in zip(caches, (k, v), strict=True):
        assert torch.equal(cache[slots.long()], rows)
        rest = [slot for slot in range(12) if slot not in (9, 0, 6)]
        assert not cache[rest].any()


def test_cache_writes_want_slots_of_32_bits(ops):
    x = torch.zeros(1, 1, 1)
    with pytest.raises(TypeError, match="int32"):
        ops.reshape_and_cache(x, x, x, x, torch.zeros(1, dtype=torch.int64), None, None, 0)


def slots_one_by_one(prefix, total, last, free, page):
    """Where each new token goes, token by token."""
    free, out = list(free), []
    for start, end, slot in zip(prefix, total, last, strict=True):
        for position in range(start, end):
            slot = free.pop(0) * page if position % page == 0 else slot + 1
            out.append(slot)
    return out


@settings(deadline=None)
@given(
    requests=st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)), min_size=1, max_size=5),
    page=st.sampled_from([1, 4, 16]),
    spare=st.booleans(),
)
def test_extend_allocation_equals_token_by_token(requests, page, spare):
    prefix = [a for a, _ in requests]
    total = [a + b for a, b in requests]
    needed = sum(-(-t // page) - -(-p // page) for p, t in zip(prefix, total, strict=True))
    free = [100 - 3 * index for index in range(needed + 5 * spare)]
    last = [(50 + row) * page + p - 1 if p else -1 for row, p in enumerate(prefix)]
    # The last slot of a request stands at its place in the page.
    last = [(50 + row) * page + (p - 1) % page if p else -1 for row, p in enumerate(prefix)]
    out = torch.full((sum(total) - sum(prefix),), -7)
    taken = torch.zeros(1, dtype=torch.int64)
    torch.ops.xspeedgate_ops.alloc_extend(
        torch.tensor(prefix),
        torch.tensor(total),
        torch.tensor(last),
        torch.tensor(free, dtype=torch.int64),
        len(requests),
        page,
        out.numel(),
        out,
        taken,
    )
    assert out.tolist() == slots_one_by_one(prefix, total, last, free, page)
    assert taken.item() >> 32 == needed


@settings(deadline=None)
@given(lens=st.lists(st.integers(1, 40), max_size=6), page=st.sampled_from([1, 4, 16]))
def test_decode_allocation_equals_token_by_token(lens, page):
    before = [n - 1 for n in lens]
    last = [(50 + row) * page + (n - 1) % page for row, n in enumerate(before)]
    free = [100 - index for index in range(sum(n % page == 0 for n in before))]
    out = torch.full((len(lens),), -7)
    torch.ops.xspeedgate_ops.alloc_decode_kernel(
        torch.tensor(lens, dtype=torch.int64),
        torch.tensor(last, dtype=torch.int64),
        torch.tensor(free, dtype=torch.int64),
        out,
        8,
        page,
        len(lens),
    )
    assert out.tolist() == slots_one_by_one(before, lens, last, free, page)


def test_norms_equal_float64(ops):
    x, residual, weight = torch.randn(5, 16), torch.randn(5, 16), torch.randn(16)

    def norm(rows):
        rows = rows.astype(np.float64)
        return rows / np.sqrt((rows**2).mean(-1, keepdims=True) + 1e-6) * weight.numpy()

    out, total = torch.empty_like(x), torch.empty_like(x)
    ops.rmsnorm(x, weight, out, 1e-6, False, True, None, None, None)
    np.testing.assert_allclose(out, norm(x.numpy()), rtol=1e-5)
    ops.add_rmsnorm(x, residual, weight, out, 1e-6, False, True, None, None, None, total, None)
    np.testing.assert_allclose(total, x + residual, rtol=1e-6)
    np.testing.assert_allclose(out, norm((x + residual).numpy()), rtol=1e-5)


def test_swiglu_equals_float64(ops):
    x, y = torch.randn(5, 32), torch.empty(5, 16)
    ops.swiglu(x=x, y=y)
    gate, up = np.split(x.double().numpy(), 2, axis=-1)
    np.testing.assert_allclose(y, gate / (1 + np.exp(-gate)) * up, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("neox", [True, False])
def test_rotary_turns_pairs_by_their_angle(ops, neox):
    positions, head, rotary = torch.tensor([3, 0, 7]), 8, 6
    angles = np.outer(np.arange(10), 100.0 ** -(np.arange(3) / 3))
    table = torch.from_numpy(np.concatenate([np.cos(angles), np.sin(angles)], -1)).float()
    q, k = torch.randn(3, 4 * head), torch.randn(3, 2 * head)
    turned = torch.ops.xspeedgate_ops.flashinfer_rotary_embedding(
        positions=positions,
        rotary_dim=rotary,
        head_size=head,
        cos_sin_cache=table,
        is_neox_style=neox,
        query=q,
        key=k,
        offsets=None,
    )
    for before, after in zip((q, k), turned, strict=True):
        before = before.double().view(3, -1, head).numpy()
        expected = before.copy()
        pairs = [(i, i + 3) if neox else (2 * i, 2 * i + 1) for i in range(3)]
        for index, (a, b) in enumerate(pairs):
            angle = angles[positions.numpy(), index][:, None]
            turn = before[..., a] + 1j * before[..., b]
            turn = turn * np.exp(1j * angle)
            expected[..., a], expected[..., b] = turn.real, turn.imag
        np.testing.assert_allclose(after.view(3, -1, head), expected, atol=1e-5)


@pytest.mark.parametrize("bias", [False, True])
def test_int8_products_keep_within_their_rounding(ops, bias):
    random = torch.Generator().manual_seed(0)
    x, w = torch.randn(7, 64, generator=random), torch.randn(12, 64, generator=random)
    x[3] = 0  # a row without any scale
    added = torch.randn(12, generator=random) if bias else None
    quantised = []
    for matrix in (x, w):
        q, top = torch.empty_like(matrix, dtype=torch.int8), torch.empty(matrix.shape[0])
        ops.quant2d(matrix, q, top, force_sdnn=True)
        assert torch.equal(top, matrix.abs().amax(-1))
        half_a_step = top[:, None] / 127 / 2
        assert ((q * top[:, None] / 127 - matrix).abs() <= half_a_step + 1e-6).all()
        quantised.append((q, top))
    (xq, xmax), (wq, wmax) = quantised
    out = torch.empty(7, 12)
    ops.matmul(xq, wq, out, bias=added, x_pc_max=xmax, w_pc_max=wmax)
    exact = (xq.double() * xmax[:, None] / 127) @ (wq.double() * wmax[:, None] / 127).T
    expected = exact if added is None else exact + added
    np.testing.assert_allclose(out, expected, rtol=1e-5, atol=1e-5)


def test_matmul_in_full_precision(ops):
    x, w, out = torch.randn(3, 8), torch.randn(5, 8), torch.ones(3, 5)
    ops.matmul(x, w, out, False, True, 2.0, 0.5)
    np.testing.assert_allclose(out, 2 * x @ w.T + 0.5, rtol=1e-5, atol=1e-5)
    with pytest.raises(ValueError, match="x_pc_max"):
        ops.matmul(x.to(torch.int8), w, out)


def test_top_k_and_top_p_keep_what_they_should(ops):
    probs = torch.tensor([[0.1, 0.4, 0.2, 0.3]]).repeat(4, 1)
    kept = ops.top_k_renorm_probs(probs, torch.tensor([1, 2, 4, 9], dtype=torch.int32))
    assert [(row > 0).nonzero().view(-1).tolist() for row in kept] == [
        [1],
        [1, 3],
        [0, 1, 2, 3],
        [0, 1, 2, 3],
    ]
    torch.testing.assert_close(kept.sum(-1), torch.ones(4))
    kept = ops.top_p_renorm_probs(probs, torch.tensor([0.01, 0.5, 0.95, 1.0]))
    assert [(row > 0).nonzero().view(-1).tolist() for row in kept] == [
        [1],
        [1, 3],
        [0, 1, 2, 3],
        [0, 1, 2, 3],
    ]
    torch.testing.assert_close(kept[1], torch.tensor([0, 4 / 7, 0, 3 / 7]))


# Manners.


def test_no_kernel_loops_over_requests_or_tokens():
    """The only loops over data are over query tiles; the others walk a fixed few operands."""
    allowed = {
        "attention.py": {
            "zip(torch.split(q, tile, 2), torch.split(positions, tile, 1), strict=True)"
        },
        "memory.py": {"((key_cache, key), (value_cache, value))"},
        "linear.py": {"((x, x_pc_max, 'x_pc_max'), (w, w_pc_max, 'w_pc_max'))"},
        "elementwise.py": {"(bias, smooth, scale)", "extra"},
        "sampling.py": set(),
    }
    folder = Path(kunlun_sdk.__file__).parent
    for name, fine in allowed.items():
        tree = ast.parse((folder / name).read_text(encoding="utf-8"))
        loops = {
            ast.unparse(node.iter)
            for node in ast.walk(tree)
            if isinstance(node, ast.For | ast.comprehension)
        }
        loops -= {"(q, k)", "(first, second)", "parts"}
        assert loops <= fine, f"{name} loops over {sorted(loops - fine)}"
        assert not any(isinstance(node, ast.While) for node in ast.walk(tree)), name
        calls = {
            n.func.attr
            for n in ast.walk(tree)
            if isinstance(n, ast.Call) and hasattr(n.func, "attr")
        }
        assert not calls & {"tolist", "apply_", "map_", "numpy"}, name


SIZES = (
    "batch_num",
    "qlen",
    "max_context_len",
    "head_num",
    "head_dim",
    "kv_head_num",
    "block_size",
    "max_num_blocks_per_seq",
)


def test_operands_of_one_kernel_share_a_device(ops):
    x = torch.zeros(2, 2, device="meta")
    with pytest.raises(RuntimeError, match=r"'x' is on cpu and 'y' on meta"):
        ops.swiglu(x=torch.zeros(2, 4), y=x)
    with pytest.raises(RuntimeError, match="context_lens_cpu"):
        ops.speculative_attention(
            **{n: torch.zeros(1) for n in ("out", "q", "k_cache", "v_cache", "context_lens_xpu")},
            context_lens_cpu=torch.zeros(1, device="meta"),
            **dict.fromkeys(SIZES, 1),
            scale=0.0,
        )


def test_the_stand_in_never_shadows_a_real_sdk(monkeypatch):
    kunlun_sdk.uninstall()
    real = types.ModuleType("torch_xmlir")
    real.__spec__ = importlib.machinery.ModuleSpec("torch_xmlir", None)
    monkeypatch.setitem(sys.modules, "torch_xmlir", real)
    with pytest.raises(ContractsError, match="torch_xmlir"):
        kunlun_sdk.install()
    assert sys.modules["torch_xmlir"] is real
    assert "kunlun_ops" not in sys.modules
    monkeypatch.delitem(sys.modules, "torch_xmlir")
    kunlun_sdk.install()


def test_the_variable_has_one_value(monkeypatch):
    monkeypatch.setenv(kunlun_sdk.ENVIRONMENT, "shim")
    assert kunlun_sdk.requested()
    monkeypatch.delenv(kunlun_sdk.ENVIRONMENT)
    assert not kunlun_sdk.requested()
    monkeypatch.setenv(kunlun_sdk.ENVIRONMENT, "yes")
    with pytest.raises(ContractsError, match="shim"):
        kunlun_sdk.requested()
