"""How many bytes a model's weights take on each card: from safetensors headers, or by the shape."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from sglang_contracts.errors import ContractsError
from sglang_contracts.planning.architecture import ELEMENT_BYTES, Architecture, config_file

BITS = {
    "F64": 64,
    "F32": 32,
    "F16": 16,
    "BF16": 16,
    "I64": 64,
    "U64": 64,
    "I32": 32,
    "U32": 32,
    "I16": 16,
    "U16": 16,
    "I8": 8,
    "U8": 8,
    "BOOL": 8,
    "F8_E4M3": 8,
    "F8_E5M2": 8,
    "F8_E8M0": 8,
    "F4": 4,
}
"""Bits of an element by its name in a safetensors header."""

FLOATS = frozenset({"F64", "F32", "F16", "BF16"})

LONGEST_HEADER = 100 << 20
"""Bytes of a header that is read: as the library of the format allows."""

VOCABULARY_MULTIPLE = 64
"""The rows of embeddings are filled up to a multiple of this."""

SPLIT = (
    *("q_proj", "qkv_proj", "o_proj", "c_attn", "c_proj", "out_proj", "in_proj"),
    *("gate_proj", "up_proj", "down_proj", "gate_up_proj", "fc1", "fc2", "w1", "w2", "w3"),
    *("q_b_proj", "kv_b_proj", "embed_tokens", "lm_head", "word_embeddings", "wte"),
    *("dense_h_to_4h", "dense_4h_to_h", "query_key_value", "dense"),
)
"""Modules that tensor parallelism splits; norms, routers and low-rank halves are on each card."""

BY_KV_HEADS = ("k_proj", "v_proj")
"""Modules that are split by key/value heads: with fewer heads than cards, cards share one."""

EMBEDDINGS = ("embed_tokens", "lm_head", "word_embeddings", "wte")

BYTE_WIDE = ("fp8", "w8a8_int8", "w8a8_fp8", "int8", "compressed-tensors")
"""Quantisations that hold a weight in one byte."""


class Weights(msgspec.Struct, frozen=True):
    """What weights take.

    Attributes:
        total: Bytes of the whole model as it is loaded.
        per_card: Bytes on the card that has most.
        source: ``headers``: by the safetensors files; ``shape``: estimated from ``config.json``.
    """

    total: int
    per_card: int
    source: str


class Tensor(msgspec.Struct, frozen=True):
    """One tensor of a checkpoint."""

    name: str
    dtype: str
    shape: tuple[int, ...]


def read_weights(
    model: Path, shape: Architecture, ranks: int = 1, quantization: str = ""
) -> Weights:
    """What the weights of a model take.

    Args:
        model: Its folder, or its ``config.json``.
        shape: What :func:`read_architecture` gave.
        ranks: Cards that share it (``--tp-size``).
        quantization: What SGLang is told by ``--quantization`` where the checkpoint is not
            quantised itself; empty: nothing.

    Raises:
        ContractsError: A safetensors file is damaged.
    """
    folder = config_file(model).parent
    files = sorted(folder.glob("*.safetensors"))
    tensors = tuple(each for file in files for each in headers(file))
    source = "headers" if tensors else "shape"
    total = per_card = 0
    for tensor in tensors or tuple(_by_shape(shape)):
        whole, part = _bytes(tensor, shape, ranks, quantization)
        total, per_card = total + whole, per_card + part
    return Weights(total, per_card, source)


def headers(file: Path) -> Iterator[Tensor]:
    """The tensors of a safetensors file, by its header alone.

    Raises:
        ContractsError: It is damaged.
    """
    try:
        with file.open("rb") as stream:
            (length,) = struct.unpack("<Q", stream.read(8))
            if length > LONGEST_HEADER:
                raise ValueError("its header is too long")
            table = json.loads(stream.read(length))
        for name, entry in table.items():
            if name != "__metadata__":
                dims = tuple(int(each) for each in entry["shape"])
                if entry["dtype"] not in BITS or any(each < 0 for each in dims):
                    raise ValueError(f"{name} has dtype {entry['dtype']!r}")
                yield Tensor(name, entry["dtype"], dims)
    except (OSError, ValueError, struct.error, KeyError, TypeError, AttributeError) as error:
        said = " ".join(str(error).split())[:120]
        raise ContractsError(
            f"{file} is no whole safetensors file: {said}",
            "download it anew; a pointer of Git LFS is none",
        ) from None


def _bytes(tensor: Tensor, shape: Architecture, ranks: int, quantization: str) -> tuple[int, int]:
    """Bytes of a tensor as it is loaded: whole, and on one card."""
    parts = tensor.name.split(".")
    module = parts[-2] if len(parts) > 1 else parts[-1]
    scale = "scale" in parts[-1]
    count = 1
    for each in tensor.shape:
        count *= each
    bits = BITS[tensor.dtype]
    if tensor.dtype in FLOATS and not scale:
        bits = 8 * ELEMENT_BYTES.get(shape.dtype, 2)
        named = any(each in parts for each in (*SPLIT, *BY_KV_HEADS))
        linear = len(tensor.shape) > 1 and module not in EMBEDDINGS and named
        if linear and quantization in BYTE_WIDE and not shape.quantization:
            bits = 8
    if module in EMBEDDINGS and tensor.shape:
        rows = -(-tensor.shape[0] // VOCABULARY_MULTIPLE) * VOCABULARY_MULTIPLE
        count = count // max(1, tensor.shape[0]) * rows
    whole = count * bits // 8
    last = parts[-1]
    row_wise = module in ("o_proj", "down_proj", "w2", "fc2", "out_proj", "c_proj")
    if row_wise and (last == "bias" or (scale and len(tensor.shape) < 3)):
        return whole, whole  # of the output, which is whole on each card
    if any(each in parts for each in BY_KV_HEADS):
        return whole, -(-whole // min(ranks, shape.kv_heads))
    if any(each in parts for each in SPLIT):
        return whole, -(-whole // ranks)
    return whole, whole


def _by_shape(shape: Architecture) -> Iterator[Tensor]:
    """The tensors that a decoder of this shape has: what dominates, not each bias."""

    def made(name: str, *dims: int) -> Tensor:
        return Tensor(f"{name}.weight", "BF16", dims)

    hidden = shape.hidden
    yield made("model.embed_tokens", shape.vocabulary, hidden)
    if not shape.tied:
        yield made("lm_head", shape.vocabulary, hidden)
    for layer in range(shape.layers):
        at = f"model.layers.{layer}"
        yield from (made(f"{at}.{name}", *dims) for name, *dims in _attention(shape))
        yield made(f"{at}.input_layernorm", hidden)
        yield made(f"{at}.post_attention_layernorm", hidden)
        dense = not shape.experts or layer < shape.dense_layers
        for prefix, size, times in (
            (f"{at}.mlp", shape.intermediate, int(dense)),
            (f"{at}.mlp.experts", shape.expert_size, 0 if dense else shape.experts),
            (f"{at}.mlp.shared_experts", shape.shared_size, int(not dense)),
        ):
            if times and size:
                yield made(f"{prefix}.gate_up_proj", times, 2 * size, hidden)
                yield made(f"{prefix}.down_proj", times, hidden, size)
        if not dense:
            yield made(f"{at}.mlp.gate", shape.experts, hidden)


def _attention(shape: Architecture) -> list[tuple[Any, ...]]:
    hidden, heads = shape.hidden, shape.heads
    if not shape.latent:
        return [
            ("self_attn.q_proj", heads * shape.head_dim, hidden),
            ("self_attn.k_proj", shape.kv_heads * shape.head_dim, hidden),
            ("self_attn.v_proj", shape.kv_heads * shape.v_head_dim, hidden),
            ("self_attn.o_proj", hidden, heads * shape.v_head_dim),
        ]
    query = heads * (shape.nope + shape.rotary)
    first = (
        [
            ("self_attn.q_a_proj", shape.query_rank, hidden),
            ("self_attn.q_b_proj", query, shape.query_rank),
        ]
        if shape.query_rank
        else [("self_attn.q_proj", query, hidden)]
    )
    return [
        *first,
        ("self_attn.kv_a_proj_with_mqa", shape.latent + shape.rotary, hidden),
        ("self_attn.kv_b_proj", heads * (shape.nope + shape.v_head_dim), shape.latent),
        ("self_attn.o_proj", hidden, heads * shape.v_head_dim),
    ]


def rotary_table(shape: Architecture) -> int:
    """Bytes of the table of rotary embeddings, which no checkpoint has and each card holds.

    In the weights' dtype, as on each platform but CUDA, which keeps it in float32.
    """
    size = shape.rotary if shape.latent else shape.head_dim
    return shape.context * size * ELEMENT_BYTES.get(shape.dtype, 2)
