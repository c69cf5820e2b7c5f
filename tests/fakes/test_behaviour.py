"""What is contracted behaves: plugins load, hooks apply, layers call their backend, pools hold."""

import logging
import os
from types import SimpleNamespace

import pytest

torch = pytest.importorskip("torch")

import numpy  # noqa: E402 - torch brings it

from sglang_contracts import fakes  # noqa: E402
from sglang_contracts.live import oracle  # noqa: E402
from sglang_contracts.live.build import Builder, Geometry  # noqa: E402
from sglang_contracts.live.world import World  # noqa: E402
from sglang_contracts.surface import load_catalog  # noqa: E402

LONG = os.environ.get("SGLANG_CONTRACTS_PROFILE") == "release"
RELEASES = load_catalog().releases
SINCE_REGISTRY = RELEASES[RELEASES.index("0.5.3") :]
SINCE_PLATFORMS = RELEASES[RELEASES.index("0.5.11") :]
SPREAD = ("0.5.3", "0.5.9", "0.5.12", "0.5.13", "0.5.16", "0.5.20", "0.5.23")
PLATFORM = """
    def activate():
        return "{name}.Platform" if {active} else None

    def __getattr__(name):
        if name != "Platform":
            raise AttributeError(name)
        from sglang.srt.platforms.interface import SRTPlatform

        class Platform(SRTPlatform):
            device_name = "{name}"

        return Platform
"""


class Looped:
    """A plain backend made on the spot: reads the pools by raw index, a loop for each request."""

    def __new__(cls, runner):
        from sglang.srt.layers.attention.base_attn_backend import AttentionBackend

        def attend(self, q, k, v, layer, batch, save_kv_cache=True, **kwargs):
            pool, table = runner.token_to_kv_pool, runner.req_to_token_pool.req_to_token
            if save_kv_cache:
                pool.set_kv_buffer(layer, batch.out_cache_loc, k, v)
            keys, values = pool.get_kv_buffer(layer.layer_id)
            counts = batch.extend_seq_lens
            if batch.forward_mode.is_decode():
                counts = torch.ones_like(batch.seq_lens)
            parts, offset = [], 0
            for row, total, count in zip(
                batch.req_pool_indices.tolist(),
                batch.seq_lens.tolist(),
                counts.tolist(),
                strict=True,
            ):
                slots = table[row, :total].long()
                query = q[offset : offset + count].view(count, layer.tp_q_head_num, -1)
                out = oracle.attention(query, keys[slots], values[slots], layer.scaling)
                parts.append(torch.from_numpy(out).reshape(count, -1))
                offset += count
            return torch.cat(parts).to(q.dtype)

        space = {"forward_extend": attend, "forward_decode": attend}
        space["init_forward_metadata"] = lambda self, batch: None
        if hasattr(AttentionBackend, "init_forward_metadata_capture_cuda_graph"):
            space["init_forward_metadata_capture_cuda_graph"] = None
            space["init_forward_metadata_replay_cuda_graph"] = None
            space["get_cuda_graph_seq_len_fill_value"] = None
        made = type("Looped", (AttentionBackend,), space)()
        made.token_to_kv_pool = runner.token_to_kv_pool
        made.req_to_token_pool = runner.req_to_token_pool
        return made


def reference(runner):
    from kunlun_backend.backend import KunlunAttentionBackend

    return KunlunAttentionBackend(runner)


def reference_classes(page):
    from kunlun_backend.allocator import KunlunPagedTokenToKVPoolAllocator
    from kunlun_backend.pool import KunlunMHATokenToKVPool

    allocator = {"allocator_cls": KunlunPagedTokenToKVPoolAllocator} if page > 1 else {}
    return {"kv_pool_cls": KunlunMHATokenToKVPool, **allocator}


def serve(backend, page, **classes):
    """Prefill, a chunk after it, decode, a shared prefix: each pass held against the oracle."""
    geometry = Geometry(page_size=page, size=256, max_context=128)
    world = World(Builder(), geometry, backend, **classes)
    random = torch.Generator().manual_seed(page)
    free = world.allocator.available_size()

    def check(step):
        world.prepare(step)
        for layer in range(geometry.num_layers):
            q, k, v = (torch.randn(step.tokens, n, generator=random) for n in (64, 32, 32))
            out = world.attend(step, layer, q, k, v)
            wanted = oracle.expected(world, step, layer, q)
            assert out.shape == wanted.shape
            assert not step.tokens or numpy.abs(out.double().numpy() - wanted).max() < 2e-5

    requests = [world.request() for _ in range(2)]
    check(world.extend({0: 19, 1: 33}, requests))
    check(world.extend({0: 5, 1: 1}, requests))
    check(world.decode(requests))
    shared = world.request(prefix_of=requests[1], prefix_len=32)
    check(world.extend({0: 1, 1: 7}, [requests[0], shared], mode="mixed"))
    check(world.decode([shared, *requests]))
    check(world.idle())
    for request in (shared, *requests):
        world.finish(request)
    assert world.allocator.available_size() == free


@pytest.mark.parametrize("fake", SINCE_REGISTRY if LONG else SPREAD, indirect=True)
def test_a_plain_backend_equals_the_oracle(fake):
    for page in (1, 16):
        serve(Looped, page)


@pytest.mark.parametrize("fake", SINCE_REGISTRY if LONG else SPREAD, indirect=True)
def test_the_reference_backend_its_pool_and_allocator_equal_the_oracle(fake, monkeypatch):
    pytest.importorskip("kunlun_backend")
    monkeypatch.setenv("SGLANG_CONTRACTS_SDK", "shim")
    for page in (1, 16):
        serve(reference, page, **reference_classes(page))


@pytest.mark.parametrize("fake", SINCE_PLATFORMS if LONG else ("0.5.11", "0.5.23"), indirect=True)
def test_the_reference_plugin_is_found_and_registers(fake, monkeypatch):
    pytest.importorskip("kunlun_backend")
    monkeypatch.setenv("SGLANG_CONTRACTS_SDK", "shim")
    monkeypatch.setenv("SGLANG_PLATFORM", "kunlun")
    from sglang.srt.layers.attention.attention_registry import ATTENTION_BACKENDS
    from sglang.srt.platforms import current_platform
    from sglang.srt.plugins import load_plugins
    from sglang.srt.plugins.hook_registry import HookRegistry

    load_plugins()
    assert type(current_platform).__name__ == "KunlunSRTPlatform"
    assert "kunlun" in ATTENTION_BACKENDS
    assert not set(HookRegistry._hooks) - HookRegistry._patched


# -- hooks ----


def test_a_hook_replaces_what_others_imported_too(fake):
    from sglang.srt import utils
    from sglang.srt.plugins.hook_registry import HookRegistry, HookType
    from sglang.srt.utils import common
    from sglang.srt.utils import support_triton as imported

    target = "sglang.srt.utils.common.support_triton"
    HookRegistry.register(target, lambda backend: "replaced", HookType.REPLACE)
    HookRegistry.register(target, lambda result, backend: f"{result} for {backend}")
    HookRegistry.apply_hooks()
    assert common.support_triton("x") == utils.support_triton("x") == "replaced for x"
    assert imported("torch_native") is False
    assert set(HookRegistry._hooks) == HookRegistry._patched


def test_each_kind_of_hook_does_its_part(fake):
    from sglang.srt.mem_cache.memory_pool import ReqToTokenPool
    from sglang.srt.plugins.hook_registry import HookRegistry, HookType, plugin_hook

    seen = []
    at = "sglang.srt.mem_cache.memory_pool.ReqToTokenPool.available_size"
    plugin_hook(at, type=HookType.BEFORE)(lambda self: seen.append("before"))
    plugin_hook(at, type=HookType.AFTER)(lambda result, self: result * 10)
    plugin_hook(at, type=HookType.AROUND)(lambda original, self: original(self) + 1)
    HookRegistry.apply_hooks()
    assert ReqToTokenPool(4, 8, "cpu", False).available_size() == 41
    assert seen == ["before"]


def test_a_target_that_is_not_there_is_only_logged(fake, caplog):
    from sglang.srt.plugins.hook_registry import HookRegistry

    HookRegistry.register("sglang.srt.utils.common.no_such_function", print)
    with caplog.at_level(logging.ERROR):
        HookRegistry.apply_hooks()
    assert "Failed to apply hooks to sglang.srt.utils.common.no_such_function" in caplog.text
    assert set(HookRegistry._hooks) - HookRegistry._patched


# -- plugins and platforms ----


def test_general_plugins_run_once_and_one_that_fails_is_logged(fake, distribution, caplog):
    distribution("good_plugin", "calls = []\ndef register(): calls.append(1)", plugin="register")
    distribution("bad_plugin", "def register(): raise OSError('no card')", plugin="register")
    import good_plugin
    from sglang.srt.plugins import load_plugins

    load_plugins()
    load_plugins()
    assert good_plugin.calls == [1]
    assert "Failed to execute general plugin: bad_plugin" in caplog.text


def test_the_platform_that_activates_is_taken(fake, distribution, monkeypatch):
    monkeypatch.setenv("SGLANG_PLUGINS", "one_card,other_card")
    distribution("one_card", PLATFORM.format(name="one_card", active=True), platform="activate")
    distribution(
        "other_card", PLATFORM.format(name="other_card", active=False), platform="activate"
    )
    from sglang.srt import platforms

    assert platforms.current_platform.device_name == "one_card"
    assert platforms.current_platform is platforms.current_platform
    assert not platforms.current_platform.is_cuda()


def test_two_platforms_need_a_choice(fake, distribution, monkeypatch):
    for name in ("one_card", "other_card"):
        distribution(name, PLATFORM.format(name=name, active=True), platform="activate")
    monkeypatch.setenv("SGLANG_PLUGINS", "one_card,other_card")
    from sglang.srt import platforms

    with pytest.raises(RuntimeError, match="Set SGLANG_PLATFORM"):
        _ = platforms.current_platform
    monkeypatch.setenv("SGLANG_PLATFORM", "other_card")
    assert platforms.current_platform.device_name == "other_card"


def test_a_chosen_platform_that_declines_is_an_error(fake, distribution, monkeypatch):
    distribution("a_card", PLATFORM.format(name="a_card", active=False), platform="activate")
    monkeypatch.setenv("SGLANG_PLATFORM", "a_card")
    from sglang.srt import platforms

    with pytest.raises(RuntimeError, match="returned None"):
        _ = platforms.current_platform
    monkeypatch.setenv("SGLANG_PLATFORM", "no_card")
    with pytest.raises(RuntimeError, match="not found"):
        _ = platforms.current_platform


@pytest.mark.parametrize("fake", ["0.5.21", "0.5.22"], indirect=True)
def test_base_platform_hooks_are_the_releases_own(fake):
    base = fake.get("sglang.srt.platforms.interface:SRTPlatform")()
    if fake.release == "0.5.21":
        with pytest.raises(NotImplementedError):
            base.get_mha_kv_pool_cls()
        assert base.support_cuda_graph() is False
    else:
        assert base.get_kv_pool_cls(kind="mha") is None
        assert base.capabilities.supports_triton is False
        with pytest.raises(AttributeError, match=r"0\.5\.11 … 0\.5\.21"):
            base.support_cuda_graph()


# -- attention ----


def test_the_layer_takes_its_backend_from_the_context(fake):
    from sglang.srt.layers.radix_attention import RadixAttention
    from sglang.srt.model_executor.forward_context import (
        ForwardContext,
        forward_context,
        get_token_to_kv_pool,
        has_forward_context,
    )

    layer = RadixAttention(4, 16, 0.25, 2, 3)
    batch = Builder().batch(
        forward_mode=None,
        batch_size=0,
        input_ids=None,
        req_pool_indices=None,
        seq_lens=None,
        out_cache_loc=None,
        seq_lens_sum=0,
    )
    q, k, v = torch.zeros(5, 64), torch.zeros(5, 32), torch.zeros(5, 32)
    with pytest.raises(AssertionError, match="no forward context"):
        layer(q, k, v, batch)
    seen = []
    backend = SimpleNamespace(forward=lambda *a, **k: seen.append((a, k)), token_to_kv_pool="pool")
    with forward_context(ForwardContext(attn_backend=backend)):
        layer(q, k, v, batch, save_kv_cache=False, sinks=1)
        assert get_token_to_kv_pool() == "pool"
    assert not has_forward_context()
    ((_, key, value, given, _, save), more) = seen[0]
    assert key.shape == value.shape == (5, 2, 16)
    assert given is layer
    assert (save, more) == (False, {"sinks": 1})


def test_a_backend_without_its_hooks_cannot_be_made_or_says_so(fake):
    from sglang.srt.layers.attention.base_attn_backend import AttentionBackend

    backend = AttentionBackend()
    backend.init_forward_metadata(None)  # two empty steps since 0.5.13
    with pytest.raises(NotImplementedError):
        backend.init_cuda_graph_state(1, 1)
    with fakes.install("0.5.12"):
        from sglang.srt.layers.attention.base_attn_backend import AttentionBackend as Older

        with pytest.raises(TypeError, match="abstract"):
            Older()


# -- pools beyond what the state machine does ----


@pytest.mark.parametrize("fake", ["0.5.12", "0.5.16", "0.5.22"], indirect=True)
def test_the_latent_pool_holds_what_is_written(fake):
    builder = Builder()
    pool = builder.mla_pool(Geometry(size=32), rank=8, rope_dim=4)
    where = builder.differences.write_location(torch.tensor([3, 7]))
    layer = SimpleNamespace(layer_id=1)
    pool.set_mla_kv_buffer(layer, where, torch.ones(2, 1, 8), torch.full((2, 1, 4), 2.0))
    rows = pool.get_key_buffer(1)[[3, 7]]
    assert rows.shape == (2, 1, 12)
    assert torch.equal(rows[..., :8], torch.ones(2, 1, 8))
    assert torch.equal(rows[..., 8:], torch.full((2, 1, 4), 2.0))
    assert pool.get_value_buffer(1).shape == (33, 1, 8)
    assert int(pool.get_key_buffer(0).count_nonzero()) == 0


def test_slots_survive_a_trip_to_the_host(fake):
    pool = Builder().mha_pool(Geometry(size=32))
    slots = torch.tensor([2, 5])
    pool.k_buffer[0][slots] = 3.0
    kept = pool.get_cpu_copy(slots)
    pool.k_buffer[0].zero_()
    pool.load_cpu_copy(kept, torch.tensor([4, 1]))
    assert pool.get_key_buffer(0)[[4, 1], 0, 0].tolist() == [3.0, 3.0]
    pool.move_kv_cache(torch.tensor([9]), torch.tensor([4]))
    assert pool.get_key_buffer(0)[9, 0, 0] == 3.0


def test_write_locations_are_unwrapped_as_the_release_does():
    for release, parts in (("0.5.14", 2), ("0.5.15", 3)):
        fake = fakes.load(release)
        loc = torch.tensor([1, 2])
        unwrap = fake.get("sglang.srt.mem_cache.memory_pool:unwrap_write_loc")
        for given in (loc, fake.get("sglang.srt.mem_cache.memory_pool:KVWriteLoc")(loc)):
            found = unwrap(given)
            assert len(found) == parts
            assert found[0] is loc


def test_the_sampler_keeps_to_top_k_and_top_p(fake):
    from sglang.srt.layers.sampler import top_k_top_p_min_p_sampling_from_probs_torch as sample

    probs = torch.tensor([[0.1, 0.6, 0.3], [0.5, 0.2, 0.3]]).repeat(50, 1)
    info = Builder().sampling_info("cpu", [1.0] * 100, [0.55, 1.0] * 50, [3, 1] * 50, 3)
    drawn = sample(
        probs,
        info.top_ks,
        info.top_ps,
        info.min_ps,
        info.need_min_p_sampling,
        **{n: None for n in ("sampling_seed", "positions") if n in _parameters(sample)},
    )
    assert drawn.tolist() == [1, 0] * 50


def _parameters(function):
    import inspect

    return inspect.signature(function).parameters


def test_environment_variables_are_read_as_the_release_names_them(fake, monkeypatch):
    from sglang.srt.environ import envs

    assert not envs.SGLANG_PLATFORM.is_set() or "SGLANG_PLATFORM" in os.environ
    monkeypatch.setenv("SGLANG_PLATFORM", "a_card")
    assert envs.SGLANG_PLATFORM.get() == "a_card"
