"""What one process without an engine has: groups of one rank, a memory saver without effect.

The table of quantisation methods stands here as well.

Plugins ask for these while they load or make their pools and backends. On the fake there is one
rank of everything, as in the suite's own runs.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from sglang_contracts.fakes.behaviour import Given, function, method, value
from sglang_contracts.fakes.values import NoValueError, Unknown

if TYPE_CHECKING:
    from sglang_contracts.fakes.release import Fake

_GROUPS = ("tensor_model_parallel", "pipeline_model_parallel", "moe_expert_parallel")
_GROUPS += ("moe_tensor_parallel", "moe_data_parallel", "attn_tensor_model_parallel")
_GROUPS += ("attn_context_model_parallel", "dcp")
_STATE, _DP = "sglang.srt.distributed.parallel_state", "sglang.srt.layers.dp_attention"


@function(_STATE, "get_world_size", *(f"get_{each}_world_size" for each in _GROUPS))
@function(_DP, *(f"get_attention_{each}_size" for each in ("tp", "dp", "cp")))
@function(_DP, "get_local_attention_dp_size", "get_moe_cp_size")
def _one(fake: Fake, given: Given) -> int:
    return 1


@function(_STATE, "get_world_rank", *(f"get_{each}_rank" for each in _GROUPS))
@function(_DP, *(f"get_attention_{each}_rank" for each in ("tp", "dp", "cp")))
@function(_DP, "get_local_attention_dp_rank", "get_moe_cp_rank")
def _first(fake: Fake, given: Given) -> int:
    return 0


_SAVER, _NOOP = "TorchMemorySaverAdapter", "_TorchMemorySaverAdapterNoop"


@method(_SAVER, "create")
def _saver(fake: Fake, held: Any, given: Given) -> Any:
    return saver(fake)


@method(_NOOP, "region", "cuda_graph", "disable", "configure_subprocess")
def _around(fake: Fake, self: Any, given: Given) -> Any:
    return contextlib.nullcontext()


@method(_NOOP, "pause", "resume")
def _nothing(fake: Fake, self: Any, given: Given) -> None:
    """There is no memory that could be given back."""


@method(_NOOP, "enabled")
def _enabled(fake: Fake, self: Any, given: Given) -> bool:
    return False


def saver(fake: Fake) -> Any:
    """The memory saver that saves nothing, as core makes it where the library is not wanted."""
    for module in ("sglang.srt.utils", "sglang.srt"):
        name = f"{module}.torch_memory_saver_adapter"
        if fake.surface.has_module(name):
            return fake.get(f"{name}:{_NOOP}")()
    return None


_QUANTIZATION = "sglang.srt.layers.quantization"
_TABLES = ("BASE_QUANTIZATION_METHODS", "VLLM_QUANTIZATION_METHODS")


@value(_QUANTIZATION, "QUANTIZATION_METHODS")
def _methods(fake: Fake) -> dict[str, Any]:
    """A plain dict, to which plugins add theirs: name → class, as far as one is to be had."""
    key = (_QUANTIZATION, "QUANTIZATION_METHODS")
    if key not in fake.objects:
        found: dict[str, Any] = {}
        for table in _TABLES:
            symbol = fake.surface.top(_QUANTIZATION, table)
            for name in getattr(getattr(symbol, "node", None), "keys", ()):
                found[name] = _method_of(fake, table, name)
        fake.objects.setdefault(key, found)
    made: dict[str, Any] = fake.objects[key]
    return made


def _method_of(fake: Fake, table: str, name: str) -> Any:
    try:
        return fake.evaluate(_QUANTIZATION, f"{table}[{name!r}]")
    except NoValueError:
        return Unknown(f"{_QUANTIZATION}:{table}[{name!r}]", fake.release)
