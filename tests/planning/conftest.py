"""Models of a few bytes, as their files say they are."""

import json
import struct

import pytest

QWEN_32B = {
    "architectures": ["Qwen2ForCausalLM"],
    "hidden_size": 5120,
    "intermediate_size": 27648,
    "max_position_embeddings": 32768,
    "num_attention_heads": 40,
    "num_hidden_layers": 64,
    "num_key_value_heads": 8,
    "tie_word_embeddings": False,
    "torch_dtype": "float16",
    "vocab_size": 152064,
}

DEEPSEEK = {
    "architectures": ["DeepseekV3ForCausalLM"],
    "hidden_size": 7168,
    "intermediate_size": 18432,
    "kv_lora_rank": 512,
    "q_lora_rank": 1536,
    "qk_nope_head_dim": 128,
    "qk_rope_head_dim": 64,
    "v_head_dim": 128,
    "num_attention_heads": 128,
    "num_key_value_heads": 128,
    "num_hidden_layers": 61,
    "first_k_dense_replace": 3,
    "moe_intermediate_size": 2048,
    "n_routed_experts": 256,
    "n_shared_experts": 1,
    "vocab_size": 129280,
    "torch_dtype": "bfloat16",
    "quantization_config": {"quant_method": "fp8"},
}


@pytest.fixture
def deepseek():
    """A config with a latent, experts and quantised weights."""
    return dict(DEEPSEEK)


@pytest.fixture
def model(tmp_path):
    """Write a model's files: its config with changes, and tensors by name."""

    def make(config=None, tensors=None, **changes):
        folder = tmp_path / "model"
        folder.mkdir(exist_ok=True)
        said = {**(QWEN_32B if config is None else config), **changes}
        (folder / "config.json").write_text(json.dumps(said))
        if tensors is not None:
            table = {
                name: {"dtype": dtype, "shape": shape, "data_offsets": [0, 0]}
                for name, (dtype, *shape) in tensors.items()
            }
            header = json.dumps({"__metadata__": {"format": "pt"}, **table}).encode()
            (folder / "model.safetensors").write_bytes(struct.pack("<Q", len(header)) + header)
        return folder

    return make
