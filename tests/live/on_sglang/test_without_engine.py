"""Real batches, pools, allocators and layers give what a float64 oracle says."""

import itertools

import numpy
import pytest
import torch

from sglang_contracts.live import oracle
from sglang_contracts.live.build import Geometry
from sglang_contracts.live.world import World

PAGES = (1, 16, 128)
HEADS = {"gqa": (4, 2), "mha": (4, 4)}
DTYPES = ("float32", "bfloat16", "float16")


def torch_native(builder, geometry):
    """SGLang's own backend, pool and allocator."""
    from sglang.srt.layers.attention.torch_native_backend import TorchNativeAttnBackend

    return World(builder, geometry, TorchNativeAttnBackend)


def kunlun(builder, geometry):
    """The plugin's backend, pool and, beyond page size 1, allocator."""
    from kunlun_backend.allocator import KunlunPagedTokenToKVPoolAllocator
    from kunlun_backend.backend import KunlunAttentionBackend
    from kunlun_backend.pool import KunlunMHATokenToKVPool

    paged = KunlunPagedTokenToKVPoolAllocator if geometry.page_size > 1 else None
    return World(builder, geometry, KunlunAttentionBackend, KunlunMHATokenToKVPool, paged)


# Of SGLang's own a part is enough: it is there to show that the builder is right, and its paged
# allocator takes long under Triton's interpreter.
CASES = [
    *itertools.product([kunlun], PAGES, HEADS, DTYPES),
    *itertools.product([torch_native], [1], HEADS, DTYPES),
    *itertools.product([torch_native], [16, 128], ["gqa"], ["float32"]),
]


class Checked:
    """Feeds random inputs through every layer of a pass and holds each against the oracle."""

    def __init__(self, world):
        self.world = world
        self.modes = []
        self.random = torch.Generator().manual_seed(0)

    def inputs(self, tokens):
        geometry = self.world.geometry
        widths = (
            geometry.num_heads * geometry.head_dim,
            geometry.num_kv_heads * geometry.head_dim,
            geometry.num_kv_heads * geometry.value_dim,
        )
        return [
            torch.randn(tokens, width, generator=self.random).to(geometry.torch_dtype)
            for width in widths
        ]

    def run(self, step):
        world = self.world
        world.prepare(step)
        for layer in range(world.geometry.num_layers):
            q, k, v = self.inputs(step.tokens)
            out = world.attend(step, layer, q, k, v)
            assert out.dtype == world.geometry.torch_dtype
            assert out.shape == (step.tokens, world.geometry.num_heads * world.geometry.value_dim)
            if step.tokens:
                difference = numpy.abs(
                    out.double().numpy() - oracle.expected(world, step, layer, q)
                ).max()
                assert difference <= oracle.TOLERANCE[world.geometry.dtype]
        self.modes.append(step.batch.forward_mode.name)


@pytest.mark.parametrize(("make", "page_size", "heads", "dtype"), CASES)
def test_every_mode_equals_the_oracle(builder, make, page_size, heads, dtype):
    if make is kunlun and not builder.differences.has_attention_registry:
        pytest.skip("the reference backend is for 0.5.3 and newer: nothing registers it before")
    geometry = Geometry(*HEADS[heads], dtype=dtype, page_size=page_size)
    checked = Checked(world := make(builder, geometry))
    requests = [world.request() for _ in range(3)]
    free = world.allocator.available_size()

    checked.run(world.extend({0: 37, 1: 5, 2: 130}, requests))
    checked.run(world.extend({0: 9, 1: 40, 2: 1}, requests))  # a chunk after a prefix
    checked.run(world.decode(requests))
    checked.run(world.decode([requests[2], requests[0]]))  # another order, one left out
    shared = world.request(prefix_of=requests[2], prefix_len=128)  # whole pages of each size
    checked.run(world.extend({0: 1, 1: 7}, [requests[1], shared], mode="mixed"))
    checked.run(world.decode([*requests, shared]))
    modes = {"EXTEND", "DECODE", "MIXED"}
    if builder.differences.attends_idle:
        checked.run(world.idle())
        modes.add("IDLE")

    assert set(checked.modes) == modes
    for request in (shared, *requests):
        world.finish(request)
    assert world.allocator.available_size() == free


@pytest.mark.parametrize("page_size", PAGES)
def test_slots_are_distinct_and_never_in_page_zero(builder, page_size):
    world = torch_native(builder, Geometry(page_size=page_size))
    requests = [world.request() for _ in range(3)]
    world.extend({0: 200, 1: 1, 2: page_size}, requests)
    world.decode(requests)
    slots = [slot for request in requests for slot in request.slots]
    assert len(set(slots)) == len(slots)
    assert min(slots) >= page_size
    assert max(slots) < world.geometry.size + page_size
    for request in requests:
        row = world.request_pool.req_to_token[request.row, : len(request)]
        assert row.tolist() == request.slots


def test_a_wrong_answer_is_noticed(builder):
    """The comparison bites: a backend that scales by one per cent too much fails it."""

    class Scaled:
        def __init__(self, inner):
            self.inner = inner

        def __getattr__(self, name):
            return getattr(self.inner, name)

        def forward(self, q, k, v, layer, batch, save_kv_cache=True, **more):
            return self.inner.forward(q * 1.01, k, v, layer, batch, save_kv_cache, **more)

    world = torch_native(builder, Geometry())
    world.backend = Scaled(world.backend)
    with pytest.raises(AssertionError):
        Checked(world).run(world.extend({0: 20}, [world.request()]))
