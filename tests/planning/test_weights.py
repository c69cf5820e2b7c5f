"""What weights take: whole, and on each of some cards."""

import pytest

from sglang_contracts.errors import ContractsError
from sglang_contracts.planning import read_architecture, read_weights

GB = 10**9


def weights(folder, ranks=1, **kwargs):
    dtype = kwargs.pop("dtype", "auto")
    return read_weights(folder, read_architecture(folder, dtype), ranks, **kwargs)


def test_a_model_of_32_billion_parameters_takes_64_gigabytes(model):
    found = weights(model(), 8)
    assert found.source == "shape"
    assert 64 * GB < found.total < 67 * GB
    assert found.total / 8 <= found.per_card < found.total / 8 * 1.01


def test_experts_and_a_latent_are_estimated(model, deepseek):
    """DeepSeek-V3 has 671 billion parameters."""
    folder = model({**deepseek, "quantization_config": None})
    assert weights(folder).total == pytest.approx(2 * 671 * GB, rel=0.01)


def test_a_quantisation_halves_linear_layers_alone(model):
    plain, small = weights(model()), weights(model(), quantization="fp8")
    kept = 2 * 2 * 152064 * 5120  # both embeddings
    assert small.total - kept == pytest.approx((plain.total - kept) / 2, rel=0.01)


LAYER = "model.layers.0"
TENSORS = {
    "model.embed_tokens.weight": ("BF16", 100, 8),
    f"{LAYER}.self_attn.q_proj.weight": ("BF16", 32, 8),
    f"{LAYER}.self_attn.k_proj.weight": ("BF16", 16, 8),
    f"{LAYER}.self_attn.o_proj.weight": ("BF16", 8, 32),
    f"{LAYER}.self_attn.o_proj.bias": ("BF16", 8),
    f"{LAYER}.input_layernorm.weight": ("BF16", 8),
}


def one(model, name, ranks=1, **kwargs):
    folder = model(tensors={name: TENSORS[name]}, num_key_value_heads=2)
    found = weights(folder, ranks, **kwargs)
    assert found.source == "headers"
    return found.total, found.per_card


@pytest.mark.parametrize(
    ("name", "ranks", "wanted"),
    [
        ("model.embed_tokens.weight", 1, (128 * 8 * 2, 128 * 8 * 2)),  # filled up to 64s
        ("model.embed_tokens.weight", 4, (2048, 512)),
        (f"{LAYER}.self_attn.q_proj.weight", 4, (512, 128)),
        (f"{LAYER}.self_attn.k_proj.weight", 4, (256, 128)),  # two heads on four cards
        (f"{LAYER}.self_attn.o_proj.weight", 4, (512, 128)),
        (f"{LAYER}.self_attn.o_proj.bias", 4, (16, 16)),
        (f"{LAYER}.input_layernorm.weight", 4, (16, 16)),
    ],
)
def test_each_module_is_split_as_tensor_parallelism_splits_it(model, name, ranks, wanted):
    assert one(model, name, ranks) == wanted


def test_floats_are_loaded_as_the_dtype_says_and_other_elements_as_they_are(model):
    name = f"{LAYER}.self_attn.q_proj.weight"
    assert one(model, name, dtype="float32") == (1024, 1024)
    quantised = {name: ("I8", 32, 8), f"{name}_scale": ("F32", 32, 1)}
    found = weights(model(tensors=quantised))
    assert found.total == 32 * 8 + 32 * 4


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"version https://git-lfs.github.com/spec/v1\n",
        b"\xff" * 64,
        b"\x02" + b"\0" * 7 + b"[]",
    ],
)
def test_a_damaged_file_is_said(model, content):
    folder = model()
    (folder / "model-00001.safetensors").write_bytes(content)
    with pytest.raises(ContractsError, match="no whole safetensors file"):
        weights(folder)
