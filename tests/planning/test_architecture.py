"""What is read off a ``config.json``."""

import pytest

from sglang_contracts.errors import ContractsError
from sglang_contracts.planning import read_architecture


def test_shared_heads_and_their_size(model):
    shape = read_architecture(model())
    assert (shape.attention, shape.layers, shape.kv_heads) == ("gqa", 64, 8)
    assert (shape.head_dim, shape.v_head_dim, shape.dtype) == (128, 128, "float16")
    assert read_architecture(model(num_key_value_heads=40)).attention == "mha"


def test_the_file_itself_may_be_named(model):
    assert read_architecture(model() / "config.json") == read_architecture(model())


def test_a_latent_its_experts_and_its_quantisation(model, deepseek):
    shape = read_architecture(model(deepseek))
    assert (shape.attention, shape.latent, shape.rotary) == ("mla", 512, 64)
    assert (shape.experts, shape.expert_size, shape.shared_size) == (256, 2048, 2048)
    assert (shape.dense_layers, shape.quantization) == (3, "fp8")


def test_a_sliding_window_counts_where_layers_differ(model):
    kinds = ["sliding_attention", "full_attention"] * 32
    shape = read_architecture(model(sliding_window=4096, layer_types=kinds))
    assert (shape.attention, shape.window_layers, shape.window) == ("swa", 32, 4096)
    unused = read_architecture(
        model(sliding_window=4096, layer_types=kinds, use_sliding_window=False)
    )
    assert unused.attention == "gqa"


@pytest.mark.parametrize(
    ("said", "asked", "wanted"),
    [
        ("float32", "auto", "float16"),
        ("bfloat16", "auto", "bfloat16"),
        ("bfloat16", "half", "float16"),
        ("bfloat16", "float32", "float32"),
    ],
)
def test_the_dtype_is_that_of_sglang(model, said, asked, wanted):
    assert read_architecture(model(torch_dtype=said), asked).dtype == wanted


def test_a_language_model_inside_another_is_read(model):
    inner = {"num_hidden_layers": 3, "hidden_size": 640, "num_attention_heads": 10}
    shape = read_architecture(model(text_config=inner))
    assert (shape.layers, shape.hidden, shape.heads) == (3, 640, 10)


@pytest.mark.parametrize("text", ["{", "[]", "3", "\ud800".encode("utf-8", "surrogatepass")])
def test_what_is_no_config_is_said(model, text):
    place = model() / "config.json"
    place.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(ContractsError, match=r"config\.json"):
        read_architecture(place)


def test_what_a_config_lacks_is_named(model):
    with pytest.raises(ContractsError, match="num_hidden_layers, vocab_size"):
        read_architecture(model({"hidden_size": 8, "num_attention_heads": 2}))


def test_no_config_at_all(tmp_path):
    with pytest.raises(ContractsError, match=r"there is no .*config\.json"):
        read_architecture(tmp_path)
