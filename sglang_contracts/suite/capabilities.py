"""What a plugin says it supports: documented properties, each of them checked.

They stand in the plugin's ``pyproject.toml`` under ``[tool.sglang-contracts.capabilities]``, with
dashes. What is declared is run; what is not declared is skipped, and the certificate says so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from sglang_contracts.contract.layout import LayoutError, layout
from sglang_contracts.errors import ContractsError, nearest

MODES = ("extend", "decode", "mixed", "idle")
POOL_KINDS = ("mha", "mla")
DTYPES = ("float32", "bfloat16", "float16")
CACHE_DTYPES = (*DTYPES, "float8_e4m3fn", "float8_e5m2")


def _doc(text: str, default: Any) -> Any:
    metadata = {"doc": text}
    if isinstance(default, dict):
        return field(default_factory=lambda: dict(default), metadata=metadata)
    return field(default=default, metadata=metadata)


@dataclass(frozen=True)
class Capabilities:
    """A plugin's declaration. Each property's meaning is in its field's ``doc``."""

    # ruff: noqa: RUF009 - _doc() is field(), with the documentation beside the default

    modes: tuple[str, ...] = _doc("forward modes served", ("extend", "decode"))
    dtypes: tuple[str, ...] = _doc("dtypes of queries, keys, values and cache", ("bfloat16",))
    cache_dtypes: tuple[str, ...] = _doc(
        "dtypes of the cache that queries of another one attend to (--kv-cache-dtype)", ()
    )
    page_sizes: tuple[int, ...] = _doc("page sizes of the key/value pool", (1,))
    heads: tuple[tuple[int, int], ...] = _doc(
        "[query heads, key/value heads] on one rank", ((4, 4),)
    )
    head_dims: tuple[tuple[int, int], ...] = _doc(
        "[head dim of queries and keys, head dim of values]", ((16, 16),)
    )
    pool_kinds: tuple[str, ...] = _doc(
        "kinds of key/value pools attended to: mha (keys and values of heads), mla (latent keys)",
        ("mha",),
    )
    latent_dims: tuple[tuple[int, int], ...] = _doc(
        "[kv_lora_rank, qk_rope_head_dim] of latent keys, where pool-kinds has mla", ((32, 16),)
    )
    backend: Any = _doc("module:name that makes the attention backend from the model runner", "")
    kv_pool: Any = _doc("module:Class of the pool; empty: the platform's, else SGLang's own", "")
    allocator: Any = _doc("module:Class of the allocator; empty: as kv-pool", "")
    kv_layout: tuple[str, ...] = _doc(
        "axes of a layer's key buffer, outermost first: slot, or page and offset; head; dim",
        ("slot", "head", "dim"),
    )
    v_layout: tuple[str, ...] = _doc("axes of the value buffer; empty: as kv-layout", ())
    prefix_cache: bool = _doc("prefill on top of tokens that the cache holds already", True)
    fused_write: bool = _doc(
        "the attention kernels write keys and values themselves, past the pool's set_kv_buffer",
        False,
    )
    shared_keys: bool = _doc("layers that read another layer's cache (k and v are None)", False)
    sliding_window: bool = _doc("layers with a sliding window", False)
    sinks: bool = _doc("attention sinks: for each head a score that takes weight", False)
    logit_cap: bool = _doc("layers whose scores are cap * tanh(score / cap)", False)
    graph_capture: bool = _doc("decode inside captured graphs", False)
    refuses_double_free: bool = _doc("the allocator notices slots that are freed twice", False)
    device: str = _doc("torch device type on which the plugin's tensors live", "cpu")
    simulated_device: bool = _doc("level 4 may simulate that device where there is no card", False)
    runtime_modules: tuple[str, ...] = _doc("modules whose absence means: no vendor runtime", ())
    runtime_environment: Mapping[str, str] = _doc(
        "environment variables that switch on a stand-in for the vendor runtime: set where "
        "runtime-modules are missing, unset where the plugin must decline",
        {},
    )
    kernels: Mapping[str, tuple[str, ...]] = _doc(
        "prefill and decode: module:function, or torch.ops.namespace.operator, of the attention "
        "kernels of each path",
        {},
    )
    request_log: str = _doc("logger that says which backend served each request", "")
    sampler: Any = _doc("module:function(logits, sampling_info) -> token ids", "")
    quantization: Mapping[str, Any] = _doc(
        "int8 weights: unpack(int32 words) -> int8, scales(scale) -> what linear takes, "
        "linear(x, weight, scales, bias) -> y, each as module:function",
        {},
    )
    communicator: Mapping[str, Any] = _doc(
        "class = module:Class(group, algorithm) with all_reduce and all_gather; algorithms; the "
        "variable of the environment whose value, an algorithm, hooks it into SGLang",
        {},
    )
    service: Mapping[str, Any] = _doc(
        "service extension and server: header that the middleware sets on every answer, "
        "token-header and the token-variable that switches its check on, metrics, kernel-metric "
        "that counts batches by kernel and mode, flags of the server, environment",
        {},
    )

    def declares(self, name: str) -> bool:
        """Whether the property ``name`` (with dashes) is there and not empty or false.

        ``mode:mixed`` asks for a forward mode, ``pool:mla`` for a kind of pool, ``kernels`` for a
        table.
        """
        kind, _, value = name.partition(":")
        if kind == "mode":
            return value in self.modes
        if kind == "pool":
            return value in self.pool_kinds
        return bool(getattr(self, name.replace("-", "_")))


def _texts(value: Any, name: str) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,)
    if not isinstance(value, (list, tuple)) or not all(isinstance(item, str) for item in value):
        raise ContractsError(f"capability '{name}' must be a list of strings, not {value!r}")
    return tuple(value)


def _one_of(known: tuple[str, ...]) -> Callable[[Any, str], tuple[str, ...]]:
    def read(value: Any, name: str) -> tuple[str, ...]:
        found = _texts(value, name)
        for item in found:
            if item not in known:
                raise ContractsError(
                    f"capability '{name}': '{item}' is not known", f"known: {', '.join(known)}"
                )
        if not found:
            raise ContractsError(f"capability '{name}' is empty", f"known: {', '.join(known)}")
        return found

    return read


def _sizes(value: Any, name: str) -> tuple[int, ...]:
    values = [value] if isinstance(value, int) else value
    if (
        not isinstance(values, (list, tuple))
        or not values
        or not all(type(item) is int and 1 <= item <= 4096 for item in values)
    ):
        raise ContractsError(f"capability '{name}' must be a list of sizes from 1 to 4096")
    return tuple(values)


def _pairs(value: Any, name: str) -> tuple[tuple[int, int], ...]:
    if not isinstance(value, (list, tuple)) or not value:
        raise ContractsError(f"capability '{name}' must be a list of pairs", "e.g. [[8, 2]]")
    pairs = []
    for item in value:
        pair = _sizes(item, name)
        pairs.append((pair[0], pair[-1]))
        if len(pair) > 2:
            raise ContractsError(f"capability '{name}': {list(pair)} is no pair")
        if name == "heads" and pair[0] % pair[-1]:
            raise ContractsError(
                f"capability 'heads': {pair[0]} query heads cannot share {pair[-1]} key heads",
                "the first must be a multiple of the second",
            )
    return tuple(pairs)


def _axes(value: Any, name: str) -> tuple[str, ...]:
    axes = _texts(value, name)
    if not axes:
        return ()
    try:
        found = layout(axes).axes
    except LayoutError as error:
        raise ContractsError(f"capability '{name}': {error}") from error
    if not {"head", "dim"} <= set(found):
        raise ContractsError(f"capability '{name}' must have the axes head and dim")
    return found


def _flag(value: Any, name: str) -> bool:
    if not isinstance(value, bool):
        raise ContractsError(f"capability '{name}' must be true or false, not {value!r}")
    return value


def _text(value: Any, name: str) -> str:
    if not isinstance(value, str):
        raise ContractsError(f"capability '{name}' must be a string, not {value!r}")
    return value


def _variables(value: Any, name: str) -> dict[str, str]:
    if not isinstance(value, Mapping):
        raise ContractsError(f"capability '{name}' must be a table of strings, not {value!r}")
    return {str(key): _text(item, f"{name}.{key}") for key, item in value.items()}


def _target(value: Any, name: str) -> Any:
    if callable(value):
        return value
    text = _text(value, name)
    module, _, qual = text.partition(":")
    if text and not (module and qual):
        raise ContractsError(f"capability '{name}': '{text}' is no target", "write module:name")
    return text


def _table(known: Mapping[str, Callable[[Any, str], Any]]) -> Callable[[Any, str], Any]:
    def read(value: Any, name: str) -> dict[str, Any]:
        if not isinstance(value, Mapping):
            raise ContractsError(f"capability '{name}' must be a table, not {value!r}")
        for key in value:
            if key not in known:
                close = nearest(str(key), known, 1)
                hint = f"did you mean '{close[0]}'?" if close else f"known: {', '.join(known)}"
                raise ContractsError(f"capability '{name}' has no key '{key}'", hint)
        return {key: known[key](item, f"{name}.{key}") for key, item in value.items()}

    return read


_READERS: dict[str, Callable[[Any, str], Any]] = {
    "modes": _one_of(MODES),
    "dtypes": _one_of(DTYPES),
    "cache_dtypes": _one_of(CACHE_DTYPES),
    "page_sizes": _sizes,
    "heads": _pairs,
    "head_dims": _pairs,
    "pool_kinds": _one_of(POOL_KINDS),
    "latent_dims": _pairs,
    "backend": _target,
    "kv_pool": _target,
    "allocator": _target,
    "kv_layout": _axes,
    "v_layout": _axes,
    "prefix_cache": _flag,
    "fused_write": _flag,
    "shared_keys": _flag,
    "sliding_window": _flag,
    "sinks": _flag,
    "logit_cap": _flag,
    "graph_capture": _flag,
    "refuses_double_free": _flag,
    "device": _text,
    "simulated_device": _flag,
    "runtime_modules": _texts,
    "runtime_environment": _variables,
    "kernels": _table({"prefill": _texts, "decode": _texts}),
    "request_log": _text,
    "sampler": _target,
    "quantization": _table({"unpack": _target, "scales": _target, "linear": _target}),
    "communicator": _table({"class": _target, "algorithms": _texts, "variable": _text}),
    "service": _table(
        {
            "header": _text,
            "token-header": _text,
            "token-variable": _text,
            "metrics": _texts,
            "kernel-metric": _text,
            "flags": _texts,
            "environment": _variables,
        }
    ),
}


def parse(table: Mapping[str, Any]) -> Capabilities:
    """A declaration from its table.

    Args:
        table: Keys with dashes (underscores are taken, too). Where a target ``module:name`` is
            wanted, the object itself will do.

    Raises:
        ContractsError: An unknown key (the nearest is named) or a value that makes no sense.
    """
    known = {each.name.replace("_", "-"): each.name for each in fields(Capabilities)}
    values = {}
    for key, value in table.items():
        name = key.replace("_", "-")
        if name not in known:
            close = nearest(name, known, 1)
            hint = f"did you mean '{close[0]}'?" if close else f"known: {', '.join(known)}"
            raise ContractsError(f"unknown capability '{key}'", hint)
        values[known[name]] = _READERS[known[name]](value, name)
    return Capabilities(**values)


def documented() -> dict[str, str]:
    """Property (with dashes) → what it means; the documentation is held to it by a test."""
    return {each.name.replace("_", "-"): each.metadata["doc"] for each in fields(Capabilities)}


def plain(capabilities: Capabilities) -> dict[str, Any]:
    """The declaration as JSON can hold it: objects by their ``module:name``."""

    def value_of(value: Any) -> Any:
        if isinstance(value, Mapping):
            return {key: value_of(item) for key, item in sorted(value.items())}
        if isinstance(value, tuple):
            return [value_of(item) for item in value]
        if callable(value):
            return f"{value.__module__}:{getattr(value, '__qualname__', type(value).__name__)}"
        return value

    return {
        each.name.replace("_", "-"): value_of(getattr(capabilities, each.name))
        for each in fields(Capabilities)
    }
