"""What a model's ``config.json`` says of its shape: layers, heads, latents, windows, dtype."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from sglang_contracts.errors import ContractsError

ELEMENT_BYTES = {"float32": 4, "float16": 2, "bfloat16": 2, "half": 2, "float": 4}
"""Bytes of an element by the names that ``config.json`` and ``--dtype`` use."""

ALIASES = {"half": "float16", "float": "float32"}

NO_HEADS = ("num_attention_heads", "n_head", "num_heads")

LARGEST = 32 << 20
"""Bytes of a ``config.json`` that is read."""


class Architecture(msgspec.Struct, frozen=True):
    """The shape of a model.

    Attributes:
        name: Its class, such as ``Qwen2ForCausalLM``.
        dtype: What its weights are loaded as, such as ``bfloat16``.
        layers: Decoder layers.
        window_layers: How many of them keep a sliding window alone.
        window: Tokens of that window; 0: there is none.
        hidden: Size of the hidden state.
        intermediate: Size between the two halves of a dense MLP.
        vocabulary: Tokens.
        heads: Query heads.
        kv_heads: Key/value heads.
        head_dim: Size of a key head.
        v_head_dim: Size of a value head.
        latent: Rank of the latent that MLA keeps; 0: keys and values of heads are kept.
        rotary: Size of MLA's rotary part.
        query_rank: Rank of MLA's queries; 0: they are not compressed.
        nope: Size of the part of MLA's heads that is not rotated.
        indexer: Size of the indexer's key head in sparse attention; 0: there is none.
        experts: Routed experts; 0: each layer is dense.
        expert_size: Size between the halves of an expert.
        shared_size: The same of what is shared by all tokens.
        dense_layers: Layers without experts, where there are some.
        context: Tokens that a text may have.
        tied: Input and output embeddings are one.
        quantization: ``quant_method`` of the checkpoint; empty: none.
    """

    name: str
    dtype: str
    layers: int
    hidden: int
    intermediate: int
    vocabulary: int
    heads: int
    kv_heads: int
    head_dim: int
    v_head_dim: int
    window_layers: int = 0
    window: int = 0
    latent: int = 0
    rotary: int = 0
    query_rank: int = 0
    nope: int = 0
    indexer: int = 0
    experts: int = 0
    expert_size: int = 0
    shared_size: int = 0
    dense_layers: int = 0
    context: int = 0
    tied: bool = False
    quantization: str = ""

    @property
    def attention(self) -> str:
        """``mla``, ``swa``, ``gqa`` or ``mha``: what a layer keeps of a token."""
        if self.latent:
            return "mla"
        if self.window_layers:
            return "swa"
        return "mha" if self.kv_heads == self.heads else "gqa"


def config_file(model: Path) -> Path:
    """The ``config.json`` of a model: the file itself, or the one in its folder.

    Raises:
        ContractsError: There is none.
    """
    place = model / "config.json" if model.is_dir() else model
    if not place.is_file():
        raise ContractsError(
            f"there is no {place}",
            "name a folder with a model's config.json, or the file; nothing is downloaded",
        )
    return place


def read_architecture(model: Path, dtype: str = "auto") -> Architecture:
    """Read a model's shape.

    Args:
        model: Its folder, or its ``config.json``.
        dtype: What SGLang is told by ``--dtype``; ``auto``: what the file says, where float32
            becomes float16.

    Raises:
        ContractsError: There is no such file, it is no JSON object, or it lacks what is needed.
    """
    place = config_file(model)
    try:
        if place.stat().st_size > LARGEST:
            raise ContractsError(f"{place} is too large for a config.json", "name another file")
        found = json.loads(place.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        said = " ".join(str(error).split())[:120]
        raise ContractsError(f"{place} cannot be read: {said}", "name a model's folder") from None
    if not isinstance(found, dict):
        raise ContractsError(f"{place} holds no JSON object", "name a model's folder")
    text = found.get("text_config") or found.get("llm_config")
    inner = {**found, **text} if isinstance(text, dict) else found
    return _architecture(inner, found, dtype, place)


def _number(table: Mapping[str, Any], *names: str, default: int | None = None) -> int | None:
    for name in names:
        value = table.get(name)
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 40:
            return value
    return default


def _architecture(
    config: Mapping[str, Any], outer: Mapping[str, Any], dtype: str, place: Path
) -> Architecture:
    layers = _number(config, "num_hidden_layers", "n_layer", "num_layers")
    heads = _number(config, *NO_HEADS)
    hidden = _number(config, "hidden_size", "n_embd", "d_model")
    vocabulary = _number(config, "vocab_size")
    lacking = [
        name
        for name, value in (
            ("num_hidden_layers", layers),
            ("num_attention_heads", heads),
            ("hidden_size", hidden),
            ("vocab_size", vocabulary),
        )
        if not value
    ]
    if not (layers and heads and hidden and vocabulary):
        raise ContractsError(
            f"{place} does not say {', '.join(lacking)}", "name the config.json of a language model"
        )
    kv_heads = _number(config, "num_key_value_heads", "num_kv_heads", default=heads) or heads
    head_dim = _number(config, "head_dim") or hidden // heads
    latent = _number(config, "kv_lora_rank", default=0) or 0
    nope = _number(config, "qk_nope_head_dim", default=0) or 0
    window_layers, window = _windows(config, layers)
    experts = _number(config, "num_experts", "n_routed_experts", "num_local_experts", default=0)
    intermediate = _number(config, "intermediate_size", "ffn_hidden_size", "n_inner") or 4 * hidden
    expert_size = _number(config, "moe_intermediate_size", default=0) or intermediate
    shared = _number(config, "shared_expert_intermediate_size", default=0) or (
        expert_size * (_number(config, "n_shared_experts", default=0) or 0)
    )
    quantization = config.get("quantization_config") or outer.get("quantization_config")
    named = outer.get("architectures") or config.get("architectures")
    return Architecture(
        name=str(named[0]) if isinstance(named, list) and named else "",
        dtype=_dtype(config, outer, dtype),
        layers=layers,
        window_layers=window_layers,
        window=window,
        hidden=hidden,
        intermediate=intermediate,
        vocabulary=vocabulary,
        heads=heads,
        kv_heads=kv_heads,
        head_dim=head_dim,
        v_head_dim=_number(config, "v_head_dim") or head_dim,
        latent=latent,
        rotary=(_number(config, "qk_rope_head_dim", default=0) or 0) if latent else 0,
        query_rank=_number(config, "q_lora_rank", default=0) or 0,
        nope=nope,
        indexer=(_number(config, "index_head_dim", default=0) or 0) if latent else 0,
        experts=experts or 0,
        expert_size=expert_size if experts else 0,
        shared_size=shared if experts else 0,
        dense_layers=_number(config, "first_k_dense_replace", default=0) or 0 if experts else 0,
        context=_number(config, "max_position_embeddings", "n_positions", "seq_length") or 0,
        tied=bool(outer.get("tie_word_embeddings", config.get("tie_word_embeddings", False))),
        quantization=str(quantization.get("quant_method") or "")
        if isinstance(quantization, dict)
        else "",
    )


def _dtype(config: Mapping[str, Any], outer: Mapping[str, Any], asked: str) -> str:
    if asked != "auto":
        return ALIASES.get(asked, asked)
    names = (config.get("dtype"), config.get("torch_dtype"), outer.get("torch_dtype"))
    said = next((each for each in names if isinstance(each, str)), "bfloat16")
    said = ALIASES.get(said.removeprefix("torch."), said.removeprefix("torch."))
    return "float16" if said == "float32" else said  # as SGLang does


def _windows(config: Mapping[str, Any], layers: int) -> tuple[int, int]:
    """How many layers keep a window alone, and its tokens: only where SGLang keeps two pools."""
    window = _number(config, "sliding_window", "sliding_window_size", default=0) or 0
    kinds = config.get("layer_types")
    if not window or config.get("use_sliding_window") is False:
        return 0, 0
    if isinstance(kinds, list):
        count = sum(kind == "sliding_attention" for kind in kinds[:layers])
        return (count, window) if count else (0, 0)
    return 0, 0
