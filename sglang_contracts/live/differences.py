"""Every difference between releases that making real objects has to cater for, in one place.

Each function or attribute here answers one question for one release and names the contract clause
that states the difference. What differs only in *which keywords* a constructor takes needs no
entry: :func:`sglang_contracts.live.build.construct` passes those that the release has.
"""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Iterator, Sequence
from types import SimpleNamespace
from typing import Any

from packaging.version import Version


def symbol(*spellings: str) -> Any:
    """The first of several ``module:name`` spellings that the installed SGLang has.

    Raises:
        ImportError: None of them is there; or one of the modules is, and cannot be imported: what
            it raised is passed on.
    """
    for spelling in spellings:
        module, _, name = spelling.partition(":")
        try:
            return getattr(importlib.import_module(module), name)
        except AttributeError:
            continue
        except ModuleNotFoundError as error:
            if not error.name or not f"{module}.".startswith(f"{error.name}."):
                raise  # the module is there, and something that it needs is not
    raise ImportError(f"the installed SGLang has none of {', '.join(spellings)}")


def token_allocator() -> Any:
    """The allocator for page size 1.

    It moved twice: clause ``kv-allocator/allocator.token:TokenToKVPoolAllocator``.
    """
    return symbol(
        "sglang.srt.mem_cache.allocator:TokenToKVPoolAllocator",  # >= 0.4.8
        "sglang.srt.mem_cache.memory_pool:TokenToKVPoolAllocator",
    )


def paged_allocator() -> Any:
    """The allocator for larger pages.

    It moved: clause ``kv-allocator-paged/allocator.paged:PagedTokenToKVPoolAllocator``.
    """
    return symbol(
        "sglang.srt.mem_cache.allocator:PagedTokenToKVPoolAllocator",  # >= 0.4.8
        "sglang.srt.mem_cache.paged_allocator:PagedTokenToKVPoolAllocator",
    )


class Differences:
    """The answers for one release.

    Args:
        release: An SGLang version.
    """

    def __init__(self, release: str) -> None:
        self.release = Version(release)

    def since(self, version: str) -> bool:
        """Whether this release is ``version`` or newer (post releases count as newer)."""
        return self.release >= Version(version)

    # Clause req-to-token-pool/alloc: a count up to 0.5.8, then the requests themselves.
    # Clause req-to-token-pool/alloc_rows: by count again, beside it, since 0.5.19.
    def alloc_rows(self, pool: Any, count: int) -> list[int]:
        """Take ``count`` rows of a request-to-token pool; fewer are never given."""
        if self.since("0.5.19"):
            rows = pool.alloc_rows(count)
        elif self.since("0.5.9"):
            rows = pool.alloc([_request() for _ in range(count)])
        else:
            rows = pool.alloc(count)
        if rows is None:
            raise RuntimeError(f"the request pool has no {count} free rows")
        return [int(row) for row in rows]

    # Clause req-to-token-pool/free: rows up to 0.5.8, then a request.
    # Clause req-to-token-pool/free_rows: since 0.5.19.
    def free_rows(self, pool: Any, rows: Sequence[int]) -> None:
        """Give rows back to a request-to-token pool."""
        if self.since("0.5.19"):
            pool.free_rows(list(rows))
        elif self.since("0.5.9"):
            for row in rows:
                pool.free(_request(row))
        else:
            pool.free(list(rows))

    # Clause attention-backend/token_to_kv_pool (an obligation) and forward-batch/attn_backend: the
    # layer takes the backend from the batch up to 0.5.12, from the forward context since 0.5.13.
    @contextlib.contextmanager
    def forward_context(self, backend: Any, batch: Any) -> Iterator[None]:
        """Within it a real attention layer calls ``backend`` for ``batch``."""
        if not self.since("0.5.13"):
            batch.attn_backend = backend
            yield
            return
        module = importlib.import_module("sglang.srt.model_executor.forward_context")
        with module.forward_context(module.ForwardContext(attn_backend=backend)):
            yield

    # Clause kv-pool-mha/set_kv_buffer: since 0.5.14 the location is a record, not a tensor.
    def write_location(self, loc: Any) -> Any:
        """What to hand to a pool's ``set_kv_buffer`` as its location.

        Args:
            loc: int64 tensor ``[T]`` of slots.
        """
        if not self.since("0.5.14"):
            return loc
        return symbol("sglang.srt.mem_cache.memory_pool:KVWriteLoc")(loc)

    # Clause kv-pool-mla/set_kv_buffer: since 0.5.20 it asks the runtime context whether keys are
    # spread over ranks, and that refuses to answer before a server has published its settings.
    @contextlib.contextmanager
    def single_rank(self) -> Iterator[None]:
        """Within it an MLA pool can be written to without a server: there is one rank."""
        if not self.since("0.5.20"):
            yield
            return
        get_parallel = symbol("sglang.srt.runtime_context:get_parallel")
        with get_parallel().override(dcp_enabled=False):
            yield

    # Clause plugin-loading/plugins:load_plugins: the platform mechanism starts with 0.5.11.
    @property
    def has_platforms(self) -> bool:
        """Whether a platform can come from a plugin."""
        return self.since("0.5.11")

    # Clause attention-backend/forward: an idle batch gets an empty result since 0.4.9.post4;
    # before, a model runner never took an idle batch to the layers' backends.
    @property
    def attends_idle(self) -> bool:
        """Whether an attention layer takes a batch without requests."""
        return self.since("0.4.9.post4")

    # No clause: a defect of 0.5.12 and its post release. The log-probabilities of a prompt go
    # through pinned memory there, which torch refuses where there is no accelerator at all.
    @property
    def prompt_logprobs(self) -> bool:
        """Whether the engine can give a prompt's log-probabilities on a CPU."""
        return self.release.release != (0, 5, 12)

    # No clause: a check of the model runner that names backends. Latent attention on a CPU was for
    # one backend alone.
    @property
    def serves_latent_attention(self) -> bool:
        """Whether any backend may serve a model with latent attention (MLA) on a CPU."""
        return self.since("0.5.5")

    # Clause attention-backend/register_attention_backend: an if-chain of names before 0.5.3.
    @property
    def has_attention_registry(self) -> bool:
        """Whether an attention backend can be registered by name."""
        return self.since("0.5.3")

    # Clause kv-allocator-paged/alloc_extend: Triton up to 0.5.21; plain torch where the platform
    # has no Triton since 0.5.22. Triton's interpreter runs the former on a CPU.
    @property
    def needs_triton_interpreter(self) -> bool:
        """Whether upstream's own paged allocator needs ``TRITON_INTERPRET=1`` on a CPU."""
        return not self.since("0.5.22")


def _request(row: int | None = None) -> SimpleNamespace:
    """What ``ReqToTokenPool.alloc(reqs)`` reads off a request (0.5.9 … 0.5.18)."""
    return SimpleNamespace(
        req_pool_idx=row,
        is_chunked=0,
        inflight_middle_chunks=0,
        kv_committed_len=0,
        is_dllm=lambda: False,  # read by 0.5.9 alone
    )
