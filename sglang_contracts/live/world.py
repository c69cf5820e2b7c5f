"""Drives real objects through prefill and decode, keeping book of what must come out.

A :class:`World` holds pools, an allocator, layers and a backend of one geometry. Each step
allocates slots, writes the request table and makes the ``ForwardBatch``, as SGLang's scheduler
does. It keeps every key and value written, on its own side, so that an oracle need not trust the
pools.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sglang_contracts.live.build import Builder, Geometry


@dataclass
class Request:
    """One request's book.

    Attributes:
        row: Its row of the request pool.
        slots: The slot of each of its tokens, in order.
        shared: How many of the first slots belong to another request (a cached prefix).
        keys: Layer → key of each token, ``[n, Hkv, D]`` in the geometry's dtype.
        values: Layer → value of each token, ``[n, Hkv, Dv]``.
    """

    row: int
    slots: list[int] = field(default_factory=list)
    shared: int = 0
    keys: dict[int, list[Any]] = field(default_factory=dict)
    values: dict[int, list[Any]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.slots)


@dataclass
class Step:
    """One forward pass.

    Attributes:
        batch: The ``ForwardBatch``.
        requests: Its requests, in batch order.
        prefix_lens: Tokens each had before.
        new_lens: Tokens each gets in this pass.
    """

    batch: Any
    requests: list[Request]
    prefix_lens: list[int]
    new_lens: list[int]

    @property
    def tokens(self) -> int:
        """Rows of ``q``, ``k``, ``v`` in this pass."""
        return sum(self.new_lens)


class World:
    """Pools, allocator, layers and one backend.

    Args:
        builder: Makes the objects.
        geometry: Their sizes.
        backend: Makes the attention backend from the model-runner stand-in.
        kv_pool_cls: Another key/value pool class than upstream's.
        allocator_cls: Another allocator class than upstream's.
    """

    def __init__(
        self,
        builder: Builder,
        geometry: Geometry,
        backend: Callable[[Any], Any],
        kv_pool_cls: Any = None,
        allocator_cls: Any = None,
    ) -> None:
        self.builder, self.geometry = builder, geometry
        self.request_pool = builder.request_pool(geometry)
        self.kv_pool = builder.mha_pool(geometry, kv_pool_cls)
        self.allocator = builder.allocator(geometry, self.kv_pool, allocator_cls)
        self.layers = [builder.layer(geometry, index) for index in range(geometry.num_layers)]
        self.runner = builder.runner(
            geometry,
            self.request_pool,
            self.kv_pool,
            token_to_kv_pool_allocator=self.allocator,
        )
        self.backend = backend(self.runner)
        self.runner.attn_backend = self.backend

    def request(self, prefix_of: Request | None = None, prefix_len: int = 0) -> Request:
        """A new request, on a shared prefix of another one's slots if wanted.

        Args:
            prefix_of: Whose cached tokens it starts with.
            prefix_len: How many of them: a multiple of the page size, as the radix cache gives.
        """
        (row,) = self.builder.differences.alloc_rows(self.request_pool, 1)
        made = Request(row)
        if prefix_of is not None and prefix_len:
            made.slots = prefix_of.slots[:prefix_len]
            made.shared = prefix_len
            for layer, keys in prefix_of.keys.items():
                made.keys[layer] = keys[:prefix_len]
                made.values[layer] = prefix_of.values[layer][:prefix_len]
            self._write_row(made, 0)
        return made

    def finish(self, request: Request) -> None:
        """Give back the slots that are its own, and its row."""
        own = self._tensor(request.slots[request.shared :], "int64", self.geometry.device)
        self.allocator.free(own)
        self.builder.differences.free_rows(self.request_pool, [request.row])

    def extend(self, new: Mapping[int, int], requests: list[Request], mode: str = "extend") -> Step:
        """A prefill pass: request ``i`` gets ``new[i]`` tokens after those it has.

        With ``mode="mixed"`` the batch says that some of its rows are decodes.
        """
        prefix = [len(request) for request in requests]
        counts = [new[index] for index in range(len(requests))]
        last = [request.slots[-1] if request.slots else -1 for request in requests]
        total = [a + b for a, b in zip(prefix, counts, strict=True)]
        loc = self.builder.alloc_extend(self.allocator, prefix, total, last)
        self._book(requests, counts, loc)
        starts = [sum(counts[:index]) for index in range(len(counts))]
        device = self.geometry.device
        batch = self.builder.batch(
            **self._common(mode, requests, loc),
            positions=self._tensor(
                [p for a, b in zip(prefix, total, strict=True) for p in range(a, b)],
                "int64",
                device,
            ),
            extend_num_tokens=sum(counts),
            extend_seq_lens=self._tensor(counts, "int32", device),
            extend_prefix_lens=self._tensor(prefix, "int32", device),
            extend_start_loc=self._tensor(starts, "int32", device),
            extend_seq_lens_cpu=counts,
            extend_prefix_lens_cpu=prefix,
            extend_logprob_start_lens_cpu=[0] * len(counts),
        )
        return Step(batch, requests, prefix, counts)

    def decode(self, requests: list[Request]) -> Step:
        """A decode pass: one token a request."""
        prefix = [len(request) for request in requests]
        last = [request.slots[-1] for request in requests]
        loc = self.builder.alloc_decode(self.allocator, [n + 1 for n in prefix], last)
        self._book(requests, [1] * len(requests), loc)
        batch = self.builder.batch(
            **self._common("decode", requests, loc),
            positions=self._tensor(prefix, "int64", self.geometry.device),
        )
        return Step(batch, requests, prefix, [1] * len(requests))

    def idle(self) -> Step:
        """A pass without requests, as a data-parallel rank with nothing to do gets."""
        empty = self._tensor([], "int64", self.geometry.device)
        fields = self._common("idle", [], empty)
        return Step(self.builder.batch(**fields, positions=empty), [], [], [])

    def prepare(self, step: Step) -> None:
        """Build the backend's metadata: once a batch, before any layer."""
        self.backend.init_forward_metadata(step.batch)

    def attend(self, step: Step, layer: int, q: Any, k: Any, v: Any, **more: Any) -> Any:
        """Run one real attention layer, and book what it must have written.

        Args:
            step: The pass, already prepared.
            layer: Which layer.
            q: ``[T, Hq * D]``.
            k: ``[T, Hkv * D]``.
            v: ``[T, Hkv * Dv]``.
            more: Passed to the layer's ``forward``.

        Returns:
            ``[T, Hq * Dv]``.
        """
        offset = 0
        for request, count in zip(step.requests, step.new_lens, strict=True):
            if k is not None:
                keys = request.keys.setdefault(layer, [])
                values = request.values.setdefault(layer, [])
                keys.extend(k[offset : offset + count])
                values.extend(v[offset : offset + count])
            offset += count
        with self.builder.differences.forward_context(self.backend, step.batch):
            return self.layers[layer](q, k, v, step.batch, **more)

    def _common(self, mode: str, requests: list[Request], loc: Any) -> dict[str, Any]:
        device = self.geometry.device
        lens = [len(request) for request in requests]
        return {
            "forward_mode": self.builder.mode(mode),
            "batch_size": len(requests),
            "input_ids": self._tensor([0] * len(loc), "int64", device),
            "req_pool_indices": self._tensor([r.row for r in requests], "int64", device),
            "seq_lens": self._tensor(lens, "int64", device),
            "seq_lens_cpu": self._tensor(lens, "int64", "cpu"),
            "orig_seq_lens": self._tensor(lens, "int32", device),
            "seq_lens_sum": sum(lens),
            "out_cache_loc": loc,
            "req_to_token_pool": self.request_pool,
            "token_to_kv_pool": self.kv_pool,
            "attn_backend": self.backend,
        }

    def _book(self, requests: list[Request], counts: list[int], loc: Any) -> None:
        if loc is None:
            raise RuntimeError(f"the pool has no {sum(counts)} free slots")
        slots, offset = loc.tolist(), 0
        for request, count in zip(requests, counts, strict=True):
            start = len(request)
            request.slots.extend(slots[offset : offset + count])
            self._write_row(request, start)
            offset += count

    def _write_row(self, request: Request, start: int) -> None:
        values = self._tensor(request.slots[start:], "int32", self.geometry.device)
        self.request_pool.write((request.row, slice(start, len(request))), values)

    @staticmethod
    def _tensor(values: list[int], dtype: str, device: str) -> Any:
        import torch

        return torch.tensor(values, dtype=getattr(torch, dtype)).to(device)
