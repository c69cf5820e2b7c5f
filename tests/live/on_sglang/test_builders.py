"""The other real objects: MLA pools, sampling information, logits, the model-runner stand-in."""

import pytest
import torch

from sglang_contracts.live.build import Geometry

RANK, ROPE = 16, 8


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_an_mla_pool_keeps_what_is_written_and_touches_nothing_else(builder, dtype):
    geometry = Geometry(num_kv_heads=1, dtype=dtype, size=64)
    pool = builder.mla_pool(geometry, RANK, ROPE)
    layer = builder.layer(Geometry(num_kv_heads=1, head_dim=RANK + ROPE, v_head_dim=RANK), 1)
    loc = torch.tensor([5, 3, 40])
    latent = torch.randn(3, 1, RANK + ROPE).to(geometry.torch_dtype)
    before = pool.get_key_buffer(1).clone()
    where = builder.differences.write_location(loc)
    with builder.differences.single_rank():
        pool.set_kv_buffer(layer, where, latent, latent[..., :RANK])
    after = pool.get_key_buffer(1)
    assert torch.equal(after[loc], latent)
    assert torch.equal(pool.get_value_buffer(1)[loc], latent[..., :RANK])
    others = torch.ones(len(after), dtype=torch.bool)
    others[loc] = False
    assert torch.equal(after[others], before[others])
    assert not pool.get_key_buffer(0)[loc].any()


def test_sampling_information_is_stored_as_sglang_stores_it(builder):
    info = builder.sampling_info("cpu", [0, 0.7], [1.0, 0.9], [-1, 20], vocab_size=512)
    assert info.temperatures.shape == (2, 1)
    assert info.top_ks.tolist() == [1, 20]  # temperature 0 is greedy: the best token alone
    assert len(info) == 2
    assert not info.is_all_greedy


def test_logits_output_holds_the_logits(builder):
    logits = torch.randn(2, 512)
    assert builder.logits_output(logits).next_token_logits is logits


def test_the_backends_of_sglang_itself_take_the_model_runner_stand_in(builder):
    from sglang.srt.layers.attention.torch_native_backend import TorchNativeAttnBackend

    geometry = Geometry()
    requests = builder.request_pool(geometry)
    runner = builder.runner(geometry, requests, builder.mha_pool(geometry))
    assert TorchNativeAttnBackend(runner)


def test_forward_modes_are_found_by_name(builder):
    assert builder.mode("extend").is_extend()
    assert builder.mode("decode").is_decode()
    assert builder.mode("idle").is_idle()


@pytest.mark.parametrize("taken", [3, 4])
def test_an_allocator_of_sglang_itself_whose_pool_is_full_gives_none(builder, taken):
    geometry = Geometry(size=64, page_size=16)
    allocator = builder.allocator(geometry, builder.mha_pool(geometry))
    assert allocator.alloc(taken * 16) is not None
    assert builder.alloc_extend(allocator, [0], [2 * 16], [-1]) is None
    assert allocator.available_size() == (4 - taken) * 16
    if taken == 4:
        assert builder.alloc_decode(allocator, [17], [16]) is None
