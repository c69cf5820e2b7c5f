"""Quantisation: which method a configuration gives a layer. What methods compute is not theirs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sglang_contracts.fakes.behaviour import Given, method

if TYPE_CHECKING:
    from sglang_contracts.fakes.release import Fake

_MODULE = "sglang.srt.layers.quantization.w8a8_int8"


@method("W8A8Int8Config", "__init__")
def _init(fake: Fake, self: Any, given: Given) -> None:
    self.quant_description = given["quant_config"]
    self.is_dynamic = given["quant_config"].get("is_dynamic", False)
    self.ignore = given["quant_config"].get("ignore", [])
    self.packed_modules_mapping = given["quant_config"].get("packed_modules_mapping", {})


@method("W8A8Int8Config", "get_quant_method")
def _method(fake: Fake, self: Any, given: Given) -> Any:
    if isinstance(given["layer"], fake.get("sglang.srt.layers.linear:LinearBase")):
        return fake.get(f"{_MODULE}:W8A8Int8LinearMethod")(self)
    return None
