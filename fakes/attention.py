"""The attention layer, the backend's base class, the registry, and the forward context."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from sglang_contracts.fakes.behaviour import BY_RESULT, Given, function, method

if TYPE_CHECKING:
    from sglang_contracts.fakes.release import Fake

_CONTEXT = "sglang.srt.model_executor.forward_context"
_REGISTRY = "sglang.srt.layers.attention.attention_registry"

BY_RESULT.update({"AttentionBackend"})


@method("RadixAttention", "__init__")
def _layer_init(fake: Fake, self: Any, given: Given) -> None:
    import torch

    torch.nn.Module.__init__(self)
    # All of it is told by the recorded expressions: ``tp_q_head_num = num_heads`` and the like.
    fake.initialise(self, "sglang.srt.layers.radix_attention", "RadixAttention", given)
    if given.get("quant_config") is not None:
        method_of = given["quant_config"].get_quant_method(self, prefix=given.get("prefix", ""))
        self.quant_method = method_of
    else:
        self.quant_method = None


@method("RadixAttention", "forward")
def _layer_forward(fake: Fake, self: Any, given: Given) -> Any:
    keys, values, more = given["k"], given["v"], given["kwargs"]
    if keys is not None:
        assert values is not None
        width = self.v_head_dim if "k_rope" in more else self.qk_head_dim
        keys = keys.view(-1, self.tp_k_head_num, width)
        if "k_rope" not in more:
            values = values.view(-1, self.tp_v_head_num, self.v_head_dim)
    batch = given["forward_batch"]
    backend = _backend_of(fake, batch)
    return backend.forward(given["q"], keys, values, self, batch, given["save_kv_cache"], **more)


def _backend_of(fake: Fake, batch: Any) -> Any:
    """The batch carries the backend, or where it does not, the forward context."""
    if fake.records(batch, "attn_backend"):
        return batch.attn_backend
    return fake.get(f"{_CONTEXT}:get_attn_backend")()


@method("AttentionBackend", "forward")
def _backend_forward(fake: Fake, self: Any, given: Given) -> Any:
    mode, q, layer = given["forward_batch"].forward_mode, given["q"], given["layer"]
    if mode.is_idle():
        return q.new_empty(q.shape[0], layer.tp_q_head_num * layer.v_head_dim)
    chosen = self.forward_decode if mode.is_decode() else self.forward_extend
    return chosen(
        q,
        given["k"],
        given["v"],
        layer,
        given["forward_batch"],
        save_kv_cache=given["save_kv_cache"],
        **given["kwargs"],
    )


@method("AttentionBackend", "init_forward_metadata")
def _init_metadata(fake: Fake, self: Any, given: Given) -> None:
    self.init_forward_metadata_out_graph(given["forward_batch"])
    self.init_forward_metadata_in_graph(given["forward_batch"])


# -- registry ----


@function(_REGISTRY, "register_attention_backend")
def _register(fake: Fake, given: Given) -> Callable[[Any], Any]:
    table = fake.get(f"{_REGISTRY}:ATTENTION_BACKENDS")

    def decorate(made: Any) -> Any:
        table[given["name"]] = made
        return made

    return decorate


# -- forward context ----


@function(_CONTEXT, "set_forward_context")
def _set_context(fake: Fake, given: Given) -> Any:
    module = fake.module(_CONTEXT)
    before, module._current = module._current, given["ctx"]
    return before


@function(_CONTEXT, "has_forward_context")
def _has_context(fake: Fake, given: Given) -> bool:
    return fake.module(_CONTEXT)._current is not None


@function(_CONTEXT, "get_forward_context")
def _get_context(fake: Fake, given: Given) -> Any:
    current = fake.module(_CONTEXT)._current
    assert current is not None, (
        "no forward context active: run the layer inside forward_context(ForwardContext(...))"
    )
    return current


@function(_CONTEXT, "get_attn_backend")
def _get_backend(fake: Fake, given: Given) -> Any:
    return _get_context(fake, given).attn_backend


@function(_CONTEXT, "get_token_to_kv_pool")
def _get_kv_pool(fake: Fake, given: Given) -> Any:
    return _get_backend(fake, given).token_to_kv_pool


@function(_CONTEXT, "get_req_to_token_pool")
def _get_request_pool(fake: Fake, given: Given) -> Any:
    return _get_backend(fake, given).req_to_token_pool


@function(_CONTEXT, "forward_context")
def _context(fake: Fake, given: Given) -> Any:
    return _within(fake, given["ctx"], given.get("forward_batch"))


@contextlib.contextmanager
def _within(fake: Fake, context: Any, batch: Any) -> Iterator[None]:
    lent = "moe_num_token_non_padded"
    if fake.records(context, lent):
        outer = fake.module(_CONTEXT)._current
        if batch is not None:
            context = dataclasses.replace(context, **{lent: batch.moe_num_token_non_padded})
        elif getattr(context, lent) is None and outer is not None:
            context = dataclasses.replace(context, **{lent: getattr(outer, lent)})
    before = _set_context(fake, {"ctx": context})
    try:
        yield
    finally:
        _set_context(fake, {"ctx": before})
