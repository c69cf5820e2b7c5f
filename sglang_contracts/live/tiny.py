"""Tiny models, made here: two Qwen2 layers of random weights, two of latent attention.

Nothing is downloaded.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sglang_contracts.live import shim

VOCABULARY = 512
DIMS = {"Hq": 4, "Hkv": 2, "D": 16, "Dv": 16}
"""Sizes of :func:`make`'s model by the contracts' names for them."""
LATENT_DIMS = {"kv-pool-mla.L": 32, "kv-pool-mla.R": 16}
"""Sizes of :func:`make_latent`'s model: rank of the latent, size of the rotary part."""


def make(folder: Path) -> Path:
    """Write the model and a tokenizer into ``folder``: the same weights each time.

    Args:
        folder: Made if it is not there.

    Returns:
        ``folder``.
    """
    shim.install()  # transformers imports torchvision
    import torch
    from transformers import Qwen2Config, Qwen2ForCausalLM

    torch.manual_seed(0)
    config = Qwen2Config(
        vocab_size=VOCABULARY,
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=65536,
        tie_word_embeddings=False,
        bos_token_id=1,
        eos_token_id=2,
    )
    Qwen2ForCausalLM(config).to(torch.bfloat16).save_pretrained(folder)
    _tokenizer().save_pretrained(folder)
    return folder


def _tokenizer() -> Any:
    """Text to tokens by bytes: three special tokens, 256 bytes, and names for what is left."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    special = {"unk_token": "<0>", "bos_token": "<1>", "eos_token": "<2>"}
    # Sorted: which byte has which token must not depend on the run.
    words = [*special.values(), *sorted(pre_tokenizers.ByteLevel.alphabet())]
    words += [f"<{index}>" for index in range(len(words), VOCABULARY)]
    vocabulary = {word: index for index, word in enumerate(words)}
    tokenizer = Tokenizer(models.BPE(vocabulary, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    # Without a padding token some versions of transformers would add one outside the vocabulary.
    padding = special["eos_token"]
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token=padding, **special)


def make_int8(folder: Path, source: Path) -> Path:
    """Write :func:`make`'s model with the weights of its linear layers in int8, a scale a channel.

    Args:
        folder: Made if it is not there.
        source: Where :func:`make` has written.

    Returns:
        ``folder``.
    """
    shim.install()
    import torch
    from safetensors.torch import load_file, save_file

    folder.mkdir(parents=True, exist_ok=True)
    for file in source.iterdir():
        if file.suffix == ".json":
            (folder / file.name).write_bytes(file.read_bytes())
    found = {}
    for name, weight in load_file(source / "model.safetensors").items():
        if not name.endswith("_proj.weight"):
            found[name] = weight
            continue
        scale = weight.float().abs().amax(1, keepdim=True) / 127
        found[name] = (weight.float() / scale).round().to(torch.int8)
        found[f"{name}_scale"] = scale
    save_file(found, folder / "model.safetensors", metadata={"format": "pt"})
    return folder


def make_latent(folder: Path) -> Path:
    """Write the configuration of a model with latent attention (MLA): two dense layers.

    SGLang itself fills the weights (``load_format="dummy"``): what it answers means nothing, what
    it makes to answer, an MLA pool, does.

    Args:
        folder: Made if it is not there.

    Returns:
        ``folder``.
    """
    heads, layers = 4, 2
    config = {
        "architectures": ["DeepseekV2ForCausalLM"],
        "model_type": "deepseek_v2",
        "torch_dtype": "bfloat16",
        "vocab_size": VOCABULARY,
        "hidden_size": 64,
        "intermediate_size": 128,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "num_key_value_heads": heads,
        "kv_lora_rank": LATENT_DIMS["kv-pool-mla.L"],
        "q_lora_rank": None,
        "qk_rope_head_dim": LATENT_DIMS["kv-pool-mla.R"],
        "qk_nope_head_dim": 16,
        "v_head_dim": 16,
        "hidden_act": "silu",
        "max_position_embeddings": 2048,
        # On a CPU SGLang knows this form of rotary embedding alone for such models.
        "rope_theta": 10000,
        "rope_scaling": {
            "type": "yarn",
            "rope_type": "yarn",
            "factor": 2.0,
            "original_max_position_embeddings": 1024,
            "mscale": 1.0,
            "mscale_all_dim": 1.0,
            "beta_fast": 32,
            "beta_slow": 1,
        },
        # Every layer is dense; the numbers have to be there.
        "first_k_dense_replace": layers,
        "moe_layer_freq": 1,
        "moe_intermediate_size": 32,
        "n_routed_experts": 2,
        "n_shared_experts": 1,
        "num_experts_per_tok": 1,
        "n_group": 1,
        "topk_group": 1,
        "topk_method": "greedy",
        "scoring_func": "softmax",
        "norm_topk_prob": False,
        "routed_scaling_factor": 1.0,
        "bos_token_id": 1,
        "eos_token_id": 2,
    }
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config, indent=1), encoding="utf-8")
    return folder


def logprobs(folder: Path, sequences: Sequence[Sequence[int]]) -> list[list[float]]:
    """What Hugging Face's own model says of each token but the first, in bfloat16.

    Args:
        folder: Made by :func:`make`.
        sequences: Token ids, prompt and output together.

    Returns:
        For each sequence the natural log-probability of its tokens 1, 2, ….
    """
    shim.install()  # transformers imports torchvision
    import torch
    from transformers import AutoModelForCausalLM

    model: Any = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.bfloat16)
    found = []
    with torch.no_grad():
        for sequence in sequences:
            ids = torch.tensor([list(sequence)])
            scores = model(ids).logits[0, :-1].float().log_softmax(-1)
            found.append(scores.gather(1, ids[0, 1:, None])[:, 0].tolist())
    return found
