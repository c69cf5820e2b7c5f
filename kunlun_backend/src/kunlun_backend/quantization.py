"""`--quantization w8a8_int8` on Kunlun: SGLang's loading, Kunlun's product."""

from __future__ import annotations

from typing import Any

import torch
from sglang.srt.layers.quantization.w8a8_int8 import W8A8Int8Config, W8A8Int8LinearMethod

from kunlun_backend import weights


class KunlunInt8LinearMethod(W8A8Int8LinearMethod):
    """Keeps the weight `[N, K]` as it was loaded and multiplies with the SDK's kernels."""

    def process_weights_after_loading(self, layer: Any) -> None:
        """Unpack the loaded weight and turn its scales into what the kernels take."""
        weight = layer.weight.data
        if weight.dtype == torch.int32:
            weight = weights.unpack_words(weight)
        layer.weight = torch.nn.Parameter(weight.contiguous(), requires_grad=False)
        layer.weight_scale = torch.nn.Parameter(layer.weight_scale.data, requires_grad=False)
        layer.weight_max = weights.channel_max(layer.weight_scale)

    def apply(self, layer: Any, x: torch.Tensor, bias: torch.Tensor | None = None) -> torch.Tensor:
        """`x [..., K]` → `[..., N]`."""
        return weights.int8_linear(x, layer.weight, layer.weight_max, bias)


class KunlunInt8Config(W8A8Int8Config):
    """SGLang's `w8a8_int8`, with Kunlun's method for linear layers."""

    def get_quant_method(self, layer: torch.nn.Module, prefix: str) -> Any:
        """The method for `layer`; what SGLang leaves unquantised stays so."""
        method = super().get_quant_method(layer, prefix)
        if type(method) is W8A8Int8LinearMethod:
            return KunlunInt8LinearMethod(self)
        return method
