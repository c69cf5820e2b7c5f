"""What a process without an engine has, on the fake as well: ranks, a memory saver, the methods."""

import pytest

torch = pytest.importorskip("torch")

from sglang_contracts import fakes  # noqa: E402

RELEASES = ("0.5.3", "0.5.9", "0.5.12", "0.5.16", "0.5.23")


@pytest.mark.parametrize("fake", RELEASES, indirect=True)
def test_plugins_add_their_quantisation_to_a_plain_dict(fake):
    from sglang.srt.layers import quantization

    methods = quantization.QUANTIZATION_METHODS
    assert type(methods) is dict
    assert "fp8" in methods
    methods["vendor_int8"] = int
    assert quantization.QUANTIZATION_METHODS["vendor_int8"] is int
    with fakes.install(fake.release):
        assert "vendor_int8" not in fakes.installed().fake.get(
            "sglang.srt.layers.quantization:QUANTIZATION_METHODS"
        )


@pytest.mark.parametrize("fake", RELEASES, indirect=True)
def test_a_pool_makes_its_buffers_in_a_region_of_its_memory_saver(fake):
    from sglang.srt.mem_cache.memory_pool import MHATokenToKVPool

    class Pool(MHATokenToKVPool):
        def _create_buffers(self):
            with self.memory_saver_adapter.region("kv_cache"):
                super()._create_buffers()

    made = Pool(
        size=8, page_size=1, dtype=torch.float32, head_num=1, head_dim=4, layer_num=1,
        device="cpu", enable_memory_saver=False,
    )  # fmt: skip
    made._create_buffers()
    assert made.memory_saver_adapter.enabled is False
    assert made.memory_saver_adapter.pause("kv_cache") is None


@pytest.mark.parametrize("fake", ["0.5.12", "0.5.23"], indirect=True)
def test_there_is_one_rank_of_everything(fake):
    from sglang.srt import distributed

    assert distributed.get_attn_tensor_model_parallel_world_size() == 1
    assert distributed.get_tensor_model_parallel_world_size() == 1
    assert distributed.get_tensor_model_parallel_rank() == 0


def test_a_module_is_called_what_python_calls_it(fake):
    from sglang.srt.layers import quantization

    with pytest.raises(TypeError, match=r"^'module' object is not callable$"):
        quantization()
