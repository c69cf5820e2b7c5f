"""The SDK's modules, put together from the kernels."""

from __future__ import annotations

import types
from typing import Any

import torch
from sglang_contracts.fakes.kunlun_sdk import (
    attention,
    communication,
    elementwise,
    linear,
    memory,
    sampling,
)

KUNLUN_OPS = (
    attention.prefill_attention,
    attention.speculative_attention,
    elementwise.add_rmsnorm,
    elementwise.rmsnorm,
    elementwise.swiglu,
    linear.matmul,
    linear.quant2d,
    memory.reshape_and_cache,
    sampling.top_k_renorm_probs,
    sampling.top_p_renorm_probs,
)

DEVICE_TYPE = "cpu"
"""What the stand-in computes on where no simulated device is in place."""

_libraries: list[Any] = []  # torch unregisters an operator whose library object is collected

_SCHEMAS = (
    "alloc_extend(Tensor prefix_lens, Tensor seq_lens, Tensor last_loc, Tensor free_pages, "
    "int bs, int page_size, int extend_num_tokens, Tensor(a!) out, Tensor(b!) ret_value) -> ()",
    "alloc_decode_kernel(Tensor seq_lens, Tensor last_loc, Tensor free_pages, Tensor(a!) out, "
    "int bs_upper, int page_size, int bs) -> ()",
    "flashinfer_rotary_embedding(Tensor positions, int rotary_dim, int head_size, "
    "Tensor cos_sin_cache, bool is_neox_style, Tensor query, Tensor key, Tensor? offsets=None)"
    " -> (Tensor, Tensor)",
)


def _rotary(
    positions: torch.Tensor,
    rotary_dim: int,
    head_size: int,
    cos_sin_cache: torch.Tensor,
    is_neox_style: bool,
    query: torch.Tensor,
    key: torch.Tensor,
    offsets: torch.Tensor | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    if offsets is not None:
        positions = positions + offsets
    return elementwise.rotary_embedding(
        positions, rotary_dim, head_size, cos_sin_cache, is_neox_style, query, key
    )


def _register_operators() -> None:
    if _libraries or hasattr(torch.ops.xspeedgate_ops, "alloc_extend"):
        return  # torch keeps operators for the life of the process
    make_library: Any = torch.library.Library  # torch annotates nothing of it
    library = make_library("xspeedgate_ops", "DEF")
    for schema in _SCHEMAS:
        library.define(schema)
    for name, function in (
        ("alloc_extend", memory.alloc_extend),
        ("alloc_decode_kernel", memory.alloc_decode_kernel),
        ("flashinfer_rotary_embedding", _rotary),
    ):
        library.impl(name, function, "CompositeExplicitAutograd")
    _libraries.append(library)


def build() -> list[types.ModuleType]:
    """Make the SDK's modules anew and register `torch.ops.xspeedgate_ops`."""
    _register_operators()
    kunlun_ops = types.ModuleType("kunlun_ops", "Stand-in for the Kunlun operator library.")
    for function in KUNLUN_OPS:
        setattr(kunlun_ops, function.__name__, function)
    xspeedgate_ops = types.ModuleType("xspeedgate_ops", "Registers torch.ops.xspeedgate_ops.*")
    torch_xmlir = types.ModuleType("torch_xmlir", "Stand-in for the Kunlun torch extension.")
    distributed = types.ModuleType("torch_xmlir.distributed", "Collectives of the stand-in.")
    for collective in (communication.all_reduce, communication.all_gather_into_tensor):
        setattr(distributed, collective.__name__, collective)
    torch_xmlir.__path__ = []
    vars(torch_xmlir).update(
        device_type=DEVICE_TYPE,
        collective_backend="gloo",  # no driver: host memory is all there is
        pins_memory=False,
        distributed=distributed,
    )
    return [kunlun_ops, xspeedgate_ops, torch_xmlir, distributed]
