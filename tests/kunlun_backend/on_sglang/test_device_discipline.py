"""On the simulated card, with real pools and batches: nothing goes through the host."""

import pytest
import torch
from kunlun_backend.allocator import KunlunPagedTokenToKVPoolAllocator
from kunlun_backend.backend import KunlunAttentionBackend
from kunlun_backend.pool import KunlunMHATokenToKVPool
from sglang_contracts.fakes import kunlun_device
from sglang_contracts.fakes.kunlun_device import Kind

from sglang_contracts.live import oracle
from sglang_contracts.live.build import Geometry
from sglang_contracts.live.world import World

PAGES = (1, 16)


def world_on_card(builder, page_size, backend=KunlunAttentionBackend, **classes):
    geometry = Geometry(page_size=page_size, device="kunlun")
    return World(builder, geometry, backend, **classes)


def own(builder, page_size, backend=KunlunAttentionBackend):
    return world_on_card(
        builder,
        page_size,
        backend,
        kv_pool_cls=KunlunMHATokenToKVPool,
        allocator_cls=KunlunPagedTokenToKVPoolAllocator,
    )


def upstream(builder, page_size, backend=KunlunAttentionBackend):
    """SGLang's own pool; its allocator would launch Triton kernels up to 0.5.21."""
    allocator = KunlunPagedTokenToKVPoolAllocator
    return world_on_card(builder, page_size, backend, allocator_cls=allocator)


def inputs(world, tokens, seed=0):
    geometry = world.geometry
    random = torch.Generator().manual_seed(seed)
    widths = (
        geometry.num_heads * geometry.head_dim,
        geometry.num_kv_heads * geometry.head_dim,
        geometry.num_kv_heads * geometry.value_dim,
    )
    return [torch.randn(tokens, w, generator=random).to(geometry.device) for w in widths]


def run(world, step, card):
    """Metadata, then every layer: the events of each, and the outputs."""
    given = [inputs(world, step.tokens, layer) for layer in range(world.geometry.num_layers)]
    with card.window() as metadata:
        world.prepare(step)
    with card.window() as layers:
        outputs = [world.attend(step, layer, *values) for layer, values in enumerate(given)]
    return metadata, layers, list(zip(given, outputs, strict=True))


def assert_equals_the_oracle(world, step, results):
    for layer, ((q, _k, _v), out) in enumerate(results):
        request_keys = [(r.keys, r.values) for r in step.requests]
        for keys, values in request_keys:
            for book in (keys, values):
                book[layer] = [
                    row.cpu() if row.device.type != "cpu" else row for row in book[layer]
                ]
        expected = torch.from_numpy(oracle.expected(world, step, layer, q.cpu()))
        assert (out.cpu().double() - expected).abs().max() <= oracle.TOLERANCE["float32"]


@pytest.mark.parametrize("pools", [own, upstream])
@pytest.mark.parametrize("page_size", PAGES)
def test_neither_metadata_nor_layers_touch_the_host(builder, card, page_size, pools):
    world = pools(builder, page_size)
    requests = [world.request() for _ in range(3)]
    for step in (
        world.extend({0: 37, 1: 5, 2: 130}, requests),
        world.extend({0: 9, 1: 40, 2: 1}, requests),
        world.decode(requests),
        world.decode([requests[2], requests[0]]),
    ):
        metadata, layers, results = run(world, step, card)
        assert not metadata.transfers, metadata.transfers.describe()
        assert not metadata.synchronisations, metadata.synchronisations.describe()
        assert not layers.transfers, layers.transfers.describe()
        assert not layers.synchronisations, layers.synchronisations.describe()
        assert layers.of(Kind.KERNEL), "the recorder saw no kernel at all"
        assert_equals_the_oracle(world, step, results)


@pytest.mark.parametrize("page_size", PAGES)
def test_missing_host_lengths_cost_one_copy_each_and_none_in_a_layer(builder, card, page_size):
    world = own(builder, page_size)
    requests = [world.request() for _ in range(2)]
    step = world.extend({0: 20, 1: 3}, requests)
    step.batch.extend_seq_lens_cpu = step.batch.extend_prefix_lens_cpu = None
    metadata, layers, results = run(world, step, card)
    assert len(metadata.synchronisations) == 2
    assert not layers.synchronisations
    assert_equals_the_oracle(world, step, results)
    step = world.decode(requests)
    step.batch.seq_lens_cpu = None
    metadata, layers, results = run(world, step, card)
    assert len(metadata.synchronisations) == 1
    assert not layers.synchronisations
    assert_equals_the_oracle(world, step, results)


@pytest.mark.parametrize("page_size", PAGES)
def test_allocating_slots_moves_nothing_between_host_and_device(builder, card, page_size):
    world = own(builder, page_size)
    allocator, device = world.allocator, world.geometry.device

    def lens(*values):
        host = torch.tensor(values)
        return host.to(device), host

    prefix, total = lens(0, 0), lens(37, 5)
    last = lens(-1, -1)[0]
    with card.window() as events:
        slots = allocator.alloc_extend(*prefix, *total, last, 42)
    assert not events.transfers, events.transfers.describe()
    assert not events.synchronisations, events.synchronisations.describe()
    grown = lens(38, 6)
    last = slots[torch.tensor([36, 41]).to(device)]
    with card.window() as events:
        allocator.alloc_decode(*grown, last)
    assert not events.transfers, events.transfers.describe()
    assert not events.synchronisations, events.synchronisations.describe()


@pytest.mark.parametrize("page_size", PAGES)
def test_steady_decode_allocates_its_outputs_and_nothing_else(builder, card, page_size):
    world = own(builder, page_size)
    requests = [world.request() for _ in range(3)]
    run(world, world.extend({0: 60, 1: 5, 2: 14}, requests), card)
    geometry = world.geometry
    output = len(requests) * geometry.num_heads * geometry.value_dim * 4
    reserved = world.kv_pool.arena.numel()
    for _ in range(18):  # over a page's edge
        metadata, layers, _ = run(world, world.decode(requests), card)
        assert metadata.allocated == 0, metadata.describe()
        made = layers.of(Kind.ALLOCATE)
        assert [event.nbytes for event in made] == [output] * geometry.num_layers, made.describe()
        assert layers.allocated == output * geometry.num_layers, layers.describe()
    assert world.kv_pool.arena.numel() == reserved


@pytest.mark.parametrize("page_size", PAGES)
def test_the_pool_reserves_its_memory_once(builder, card, page_size):
    world = own(builder, page_size)
    pool = world.kv_pool
    start = pool.arena.data_ptr()
    end = start + pool.arena.numel() * pool.arena.element_size()
    for buffer in (*pool.k_buffer, *pool.v_buffer):
        assert start <= buffer.data_ptr() < end
    before = card.live
    run(world, world.extend({0: 500}, [world.request()]), card)
    assert card.live - before < pool.arena.numel()  # outputs and tables, nothing of a pool's size


@pytest.mark.parametrize("page_size", PAGES)
def test_a_captured_graph_replays_other_batches(builder, card, page_size):
    """Capture with one batch, replay with another: equal to eager, at the same addresses."""
    world = own(builder, page_size)
    requests = [world.request() for _ in range(3)]
    run(world, world.extend({0: 60, 1: 5, 2: 14}, requests), card)
    backend = world.backend
    backend.init_cuda_graph_state(4, 4)
    step = world.decode(requests)
    batch = step.batch
    static = inputs(world, 3, seed=7)
    graph, captured = capture(world, backend, batch, static)
    addresses = addresses_of(backend.forward_metadata)

    for seed, order in ((8, [0, 1, 2]), (9, [2, 0, 1])):
        step = world.decode([requests[index] for index in order])
        fresh = inputs(world, 3, seed=seed)
        for mine, new in zip(static, fresh, strict=True):
            mine.copy_(new)
        for name in ("req_pool_indices", "seq_lens", "out_cache_loc"):
            getattr(batch, name).copy_(getattr(step.batch, name))
        batch.seq_lens_cpu.copy_(step.batch.seq_lens_cpu)
        before_replay(backend, batch)
        assert addresses_of(backend.forward_metadata) == addresses
        graph.replay()
        replayed = captured.cpu()
        world.prepare(step)
        eager = world.attend(step, 0, *fresh)
        assert torch.equal(replayed, eager.cpu())


def addresses_of(metadata):
    return {
        name: value.data_ptr() for name, value in vars(metadata).items() if torch.is_tensor(value)
    }


def capture(world, backend, batch, static):
    before_replay(backend, batch, in_capture=True)
    graph = kunlun_device.Graph()
    with world.builder.differences.forward_context(backend, batch), graph.capture():
        if world.builder.differences.since("0.5.13"):
            backend.init_forward_metadata_in_graph(batch)
        return graph, world.layers[0](*static, batch)


def before_replay(backend, batch, in_capture=False):
    """What SGLang's graph runner calls, in its two generations."""
    if hasattr(type(backend).__mro__[2], "init_forward_metadata_out_graph"):
        backend.init_forward_metadata_out_graph(batch, in_capture=in_capture)
    elif in_capture:
        backend.init_forward_metadata_capture_cuda_graph(
            batch.batch_size,
            batch.batch_size,
            batch.req_pool_indices,
            batch.seq_lens,
            None,
            batch.forward_mode,
            None,
        )
    else:
        backend.init_forward_metadata_replay_cuda_graph(
            batch.batch_size,
            batch.req_pool_indices,
            batch.seq_lens,
            batch.seq_lens_sum,
            None,
            batch.forward_mode,
            None,
            seq_lens_cpu=batch.seq_lens_cpu,
        )


class ThroughTheHost(KunlunAttentionBackend):
    """Writes keys by way of the host: right, and ruinous."""

    def _save(self, k, v, layer, forward_batch, save_kv_cache):
        return super()._save(k.cpu().to(k.device), v, layer, forward_batch, save_kv_cache)


class AsksEveryLayer(KunlunAttentionBackend):
    """Waits for the card in every layer."""

    def forward_decode(self, q, k, v, layer, forward_batch, *args, **kwargs):
        forward_batch.seq_lens.max().item()
        return super().forward_decode(q, k, v, layer, forward_batch, *args, **kwargs)


class AllocatesMore(KunlunAttentionBackend):
    """Makes a page table anew in every layer, larger as the requests grow."""

    def forward_decode(self, q, k, v, layer, forward_batch, *args, **kwargs):
        torch.empty(int(forward_batch.seq_lens_cpu.max()), device=q.device)
        return super().forward_decode(q, k, v, layer, forward_batch, *args, **kwargs)


def test_the_recorder_catches_a_detour_through_the_host(builder, card):
    world = own(builder, 16, ThroughTheHost)
    _, layers, _ = run(world, world.extend({0: 5}, [world.request()]), card)
    kinds = [event.kind for event in layers.transfers]
    assert kinds == [Kind.DEVICE_TO_HOST, Kind.HOST_TO_DEVICE] * world.geometry.num_layers
    assert layers.transfers[0].file == __file__


def test_the_recorder_catches_waiting_in_every_layer(builder, card):
    world = own(builder, 16, AsksEveryLayer)
    request = world.request()
    run(world, world.extend({0: 5}, [request]), card)
    _, layers, _ = run(world, world.decode([request]), card)
    assert len(layers.synchronisations) == world.geometry.num_layers


def test_the_recorder_catches_allocations_that_grow(builder, card):
    world = own(builder, 16, AllocatesMore)
    request = world.request()
    run(world, world.extend({0: 5}, [request]), card)
    sizes = [run(world, world.decode([request]), card)[1].allocated for _ in range(3)]
    assert sizes == sorted(set(sizes))
