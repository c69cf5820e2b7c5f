"""Makes real SGLang objects of the installed release: no engine, no model, no server.

The builder asks for ``sglang`` by name alone, so it works on the real package and on a synthetic
one with the same names (:mod:`sglang_contracts.fakes`). Its interface is small on purpose:

========================  =====================================================================
``request_pool``          ``ReqToTokenPool``
``mha_pool``, ``mla_pool``  ``MHATokenToKVPool``, ``MLATokenToKVPool``, or a class you give
``allocator``             token-to-KV allocator for page size 1 or N, or a class you give
``runner``                a stand-in for ``ModelRunner`` with what backends read off it
``layer``                 ``RadixAttention``
``batch``                 ``ForwardBatch`` from keywords; those the release has not are dropped
``alloc_extend``/``alloc_decode``  slots from an allocator, whatever its release's signature
``sampling_info``         ``SamplingBatchInfo``
``logits_output``         ``LogitsProcessorOutput``
========================  =====================================================================

Differences between releases live in :mod:`~sglang_contracts.live.differences`.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from sglang_contracts.errors import ContractsError
from sglang_contracts.live.differences import (
    Differences,
    paged_allocator,
    symbol,
    token_allocator,
)

BATCH = "sglang.srt.model_executor.forward_batch_info"
POOLS = "sglang.srt.mem_cache.memory_pool"


@dataclass(frozen=True)
class Geometry:
    """Sizes of the attention problem and of the pools.

    Attributes:
        num_heads: Query heads.
        num_kv_heads: Key and value heads; ``num_heads`` must be a multiple.
        head_dim: Elements of a query and key head.
        v_head_dim: Elements of a value head; None: as ``head_dim``.
        num_layers: Layers of the pool.
        dtype: Name of the torch dtype, such as ``float32``.
        page_size: Slots of a page.
        size: Slots of the pool, a multiple of ``page_size``; slot 0 … page_size-1 come on top.
        max_requests: Rows of the request pool.
        max_context: Tokens a row holds.
        device: Torch device of pools and batches.
    """

    num_heads: int = 4
    num_kv_heads: int = 2
    head_dim: int = 16
    v_head_dim: int | None = None
    num_layers: int = 2
    dtype: str = "float32"
    page_size: int = 1
    size: int = 2048
    max_requests: int = 8
    max_context: int = 512
    device: str = "cpu"

    @property
    def value_dim(self) -> int:
        """Elements of a value head."""
        return self.head_dim if self.v_head_dim is None else self.v_head_dim

    @property
    def torch_dtype(self) -> Any:
        """The dtype as torch's own object."""
        import torch

        return getattr(torch, self.dtype)


def installed_release() -> str:
    """The version of the SGLang that ``import sglang`` finds.

    Raises:
        ContractsError: None is installed.
    """
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("sglang")
    except PackageNotFoundError:
        raise ContractsError(
            "no SGLang is installed here",
            "use a live environment (tox -e sglang-0.5.23) or a fake release",
        ) from None


@functools.lru_cache(maxsize=256)  # the same few constructors, thousands of times
def _parameters(function: Callable[..., Any]) -> tuple[inspect.Parameter, ...]:
    return tuple(inspect.signature(function).parameters.values())


def _plain(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function of a bound method: what is remembered must not keep the object alive."""
    return getattr(function, "__func__", function)


def accepted(function: Callable[..., Any], values: dict[str, Any]) -> dict[str, Any]:
    """Those of ``values`` that ``function`` has a parameter for (all, if it takes ``**kwargs``)."""
    parameters = _parameters(_plain(function))
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
        return dict(values)
    names = {parameter.name for parameter in parameters}
    return {name: value for name, value in values.items() if name in names}


def construct(cls: Any, **values: Any) -> Any:
    """Make a ``cls`` from those keywords that this release's constructor takes.

    Raises:
        TypeError: The constructor requires a keyword that is not among ``values``.
    """
    if not isinstance(cls, type):
        return cls(**values)  # whatever was handed over instead of a class answers for itself
    constructor: Callable[..., Any] = getattr(cls, "__init__")  # noqa: B009 - of the class itself
    chosen = accepted(constructor, values)
    missing = [
        parameter.name
        for parameter in _parameters(constructor)[1:]
        if parameter.default is parameter.empty
        and parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)
        and parameter.name not in chosen
    ]
    if missing:
        raise TypeError(f"{cls.__name__} of this release also requires {', '.join(missing)}")
    return cls(**chosen)


class Builder:
    """Makes the objects of one release.

    Args:
        release: The version that ``import sglang`` gives; asked of the installation if left out.
    """

    def __init__(self, release: str | None = None) -> None:
        self.release = release or installed_release()
        self.differences = Differences(self.release)
        # Up to 0.4.7 memory_pool and schedule_batch import each other; this order works in all.
        symbol("sglang.srt.managers.schedule_batch:ScheduleBatch")

    def mode(self, name: str) -> Any:
        """A member of ``ForwardMode``, by its name in lower case."""
        return symbol(f"{BATCH}:ForwardMode")[name.upper()]

    def request_pool(self, geometry: Geometry, cls: Any = None) -> Any:
        """A ``ReqToTokenPool``: int32 ``req_to_token [max_requests, max_context]``."""
        return construct(
            cls or symbol(f"{POOLS}:ReqToTokenPool"),
            size=geometry.max_requests,
            max_context_len=geometry.max_context,
            device=geometry.device,
            enable_memory_saver=False,
        )

    def mha_pool(self, geometry: Geometry, cls: Any = None, **more: Any) -> Any:
        """An MHA key/value pool; its layout is the class's own. ``more``: further keywords."""
        values: dict[str, Any] = {}
        if geometry.v_head_dim is not None:
            values["v_head_dim"] = geometry.v_head_dim
        return construct(
            cls or symbol(f"{POOLS}:MHATokenToKVPool"),
            size=geometry.size,
            page_size=geometry.page_size,
            dtype=geometry.torch_dtype,
            head_num=geometry.num_kv_heads,
            head_dim=geometry.head_dim,
            layer_num=geometry.num_layers,
            device=geometry.device,
            enable_memory_saver=False,
            **values | more,
        )

    def mla_pool(
        self, geometry: Geometry, rank: int, rope_dim: int, cls: Any = None, **more: Any
    ) -> Any:
        """An MLA pool: one latent vector of ``rank + rope_dim`` elements a slot."""
        return construct(
            cls or symbol(f"{POOLS}:MLATokenToKVPool"),
            size=geometry.size,
            page_size=geometry.page_size,
            dtype=geometry.torch_dtype,
            kv_lora_rank=rank,
            qk_rope_head_dim=rope_dim,
            layer_num=geometry.num_layers,
            device=geometry.device,
            enable_memory_saver=False,
            **more,
        )

    def allocator(
        self, geometry: Geometry, kv_pool: Any, cls: Any = None, need_sort: bool = False
    ) -> Any:
        """The allocator for the geometry's page size, handing out slots of ``kv_pool``."""
        upstream = token_allocator if geometry.page_size == 1 else paged_allocator
        return construct(
            cls or upstream(),
            size=geometry.size,
            page_size=geometry.page_size,
            dtype=geometry.torch_dtype,
            device=geometry.device,
            kvcache=kv_pool,
            need_sort=need_sort,
        )

    def runner(self, geometry: Geometry, request_pool: Any, kv_pool: Any, **more: Any) -> Any:
        """A stand-in for ``ModelRunner``: what the contract lists as read by backends."""
        model_config = SimpleNamespace(
            num_attention_heads=geometry.num_heads,
            num_key_value_heads=geometry.num_kv_heads,
            get_num_kv_heads=lambda tp_size=1: max(1, geometry.num_kv_heads // tp_size),
            head_dim=geometry.head_dim,
            v_head_dim=geometry.value_dim,
            num_hidden_layers=geometry.num_layers,
            context_len=geometry.max_context,
            dtype=geometry.torch_dtype,
            is_encoder_decoder=False,
            hf_config=SimpleNamespace(architectures=["Qwen2ForCausalLM"]),
        )
        server_args = SimpleNamespace(
            device=geometry.device,
            page_size=geometry.page_size,
            attention_backend=None,
            kv_cache_dtype="auto",
            speculative_algorithm=None,
            disable_cuda_graph=True,
            enable_dp_attention=False,
        )
        values = {
            "device": geometry.device,
            "dtype": geometry.torch_dtype,
            "kv_cache_dtype": geometry.torch_dtype,
            "page_size": geometry.page_size,
            "gpu_id": 0,
            "tp_rank": 0,
            "tp_size": 1,
            "is_draft_worker": False,
            "is_hybrid_swa": False,
            "sliding_window_size": None,
            "max_total_num_tokens": geometry.size,
            "model_config": model_config,
            "server_args": server_args,
            "spec_algorithm": None,
            "req_to_token_pool": request_pool,
            "token_to_kv_pool": kv_pool,
            "token_to_kv_pool_allocator": None,
            "attn_backend": None,
            "forward_stream": None,
        }
        return SimpleNamespace(**{**values, **more})

    def layer(self, geometry: Geometry, layer_id: int = 0, **more: Any) -> Any:
        """A ``RadixAttention`` layer with scale ``head_dim ** -0.5``."""
        values: dict[str, Any] = {
            "num_heads": geometry.num_heads,
            "head_dim": geometry.head_dim,
            "scaling": geometry.head_dim**-0.5,
            "num_kv_heads": geometry.num_kv_heads,
            "layer_id": layer_id,
        }
        if geometry.v_head_dim is not None:
            values["v_head_dim"] = geometry.v_head_dim
        return construct(
            symbol("sglang.srt.layers.radix_attention:RadixAttention"), **values | more
        )

    def batch(self, **fields: Any) -> Any:
        """A ``ForwardBatch`` from those fields that this release has."""
        cls = symbol(f"{BATCH}:ForwardBatch")
        return cls(**{k: v for k, v in fields.items() if k in cls.__dataclass_fields__})

    def alloc_extend(
        self,
        allocator: Any,
        prefix_lens: Sequence[int],
        seq_lens: Sequence[int],
        last_loc: Sequence[int],
    ) -> Any:
        """Slots for new tokens of several requests.

        Args:
            allocator: Made by :meth:`allocator`.
            prefix_lens: Tokens each request already has.
            seq_lens: Tokens each request has afterwards.
            last_loc: Slot of each request's last token so far; -1 where it has none.

        Returns:
            int64 tensor ``[sum(seq_lens) - sum(prefix_lens)]``, or None if the pool is full.
        """
        if allocator.page_size == 1:
            return allocator.alloc(sum(seq_lens) - sum(prefix_lens))
        values = self.extension(allocator.device, prefix_lens, seq_lens, last_loc)
        return allocator.alloc_extend(**accepted(allocator.alloc_extend, values))

    def extension(
        self,
        device: Any,
        prefix_lens: Sequence[int],
        seq_lens: Sequence[int],
        last_loc: Sequence[int],
    ) -> dict[str, Any]:
        """What ``alloc_extend`` is called with, by name; not each release has all of it."""
        return {
            **_two_sided("prefix_lens", prefix_lens, device),
            **_two_sided("seq_lens", seq_lens, device),
            "last_loc": _int64(last_loc, device),
            "extend_num_tokens": sum(seq_lens) - sum(prefix_lens),
        }

    def alloc_decode(self, allocator: Any, seq_lens: Sequence[int], last_loc: Sequence[int]) -> Any:
        """One slot for each request.

        Args:
            allocator: Made by :meth:`allocator`.
            seq_lens: Tokens each request has afterwards.
            last_loc: Slot of each request's last token so far.

        Returns:
            int64 tensor ``[len(seq_lens)]``, or None if the pool is full.
        """
        if allocator.page_size == 1:
            return allocator.alloc(len(seq_lens))
        values = self.step(allocator.device, seq_lens, last_loc)
        return allocator.alloc_decode(**accepted(allocator.alloc_decode, values))

    def step(self, device: Any, seq_lens: Sequence[int], last_loc: Sequence[int]) -> dict[str, Any]:
        """What ``alloc_decode`` is called with, by name; not each release has all of it."""
        return {
            **_two_sided("seq_lens", seq_lens, device),
            "last_loc": _int64(last_loc, device),
        }

    def sampling_info(
        self,
        device: str,
        temperatures: Sequence[float],
        top_ps: Sequence[float],
        top_ks: Sequence[int],
        vocab_size: int,
    ) -> Any:
        """A ``SamplingBatchInfo`` for as many requests as there are temperatures.

        Temperature 0 means greedy; it is stored as SGLang does, with ``top_k`` 1 and temperature 1.
        """
        import torch

        greedy = [temperature == 0 for temperature in temperatures]
        temperature = [1.0 if g else float(t) for g, t in zip(greedy, temperatures, strict=True)]
        top_k = [1 if g else int(k) for g, k in zip(greedy, top_ks, strict=True)]
        cls = symbol("sglang.srt.sampling.sampling_batch_info:SamplingBatchInfo")
        return construct(
            cls,
            temperatures=torch.tensor(temperature, dtype=torch.float32).view(-1, 1).to(device),
            top_ps=torch.tensor(list(top_ps), dtype=torch.float32).to(device),
            top_ks=torch.tensor(top_k, dtype=torch.int32).to(device),
            min_ps=torch.zeros(len(greedy), dtype=torch.float32).to(device),
            is_all_greedy=all(greedy),
            is_any_greedy=any(greedy),
            need_top_p_sampling=any(p != 1.0 for p in top_ps),
            need_top_k_sampling=any(k > 0 for k in top_ks),
            need_min_p_sampling=False,
            vocab_size=vocab_size,
            device=device,
        )

    def logits_output(self, logits: Any) -> Any:
        """A ``LogitsProcessorOutput`` around ``logits [B, vocab]``."""
        cls = symbol("sglang.srt.layers.logits_processor:LogitsProcessorOutput")
        return construct(cls, next_token_logits=logits, hidden_states=None)


def _int64(values: Sequence[int], device: Any) -> Any:
    import torch

    return torch.tensor(list(values), dtype=torch.int64).to(device)


def _two_sided(name: str, values: Sequence[int], device: Any) -> dict[str, Any]:
    """A device tensor and its host mirror (clause ``kv-allocator-paged/alloc_extend``, 0.5.3)."""
    return {name: _int64(values, device), f"{name}_cpu": _int64(values, "cpu")}
