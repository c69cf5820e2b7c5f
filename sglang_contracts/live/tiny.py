"""A tiny model, made here: two Qwen2 layers of random bfloat16 weights. Nothing is downloaded."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sglang_contracts.live import shim

VOCABULARY = 512


def make(folder: Path) -> Path:
    """Write the model and a tokenizer into ``folder``: the same weights each time.

    Args:
        folder: Made if it is not there.

    Returns:
        ``folder``.
    """
    shim.install()  # transformers imports torchvision
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast, Qwen2Config, Qwen2ForCausalLM

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
    words = {f"<{index}>": index for index in range(VOCABULARY)}
    special = {"unk_token": "<0>", "bos_token": "<1>", "eos_token": "<2>"}
    tokenizer = Tokenizer(models.WordLevel(words, special["unk_token"]))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, **special).save_pretrained(folder)
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
