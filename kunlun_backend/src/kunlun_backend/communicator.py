"""All-reduce and all-gather by ring or tree, over point-to-point transfers.

A vendor's collective may not know how its cards hang together. A ring moves the least data and
suits large tensors; a tree takes the fewest steps and suits the small ones of decoding. The order
of ranks comes from `topology.ring_order`, so that neighbours share a NUMA node. The switch is
`KUNLUN_COLLECTIVE=ring|tree`, the matrix a JSON file named by `KUNLUN_TOPOLOGY`; without the
switch SGLang's own communicators stay in place.
"""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist

from kunlun_backend.topology import ring_order

ALGORITHMS = ("ring", "tree")
SWITCH = "KUNLUN_COLLECTIVE"


class Communicator:
    """Collectives over a process group (None: the default one) by `ring` or `tree`.

    `order` has the group's ranks as they follow in the ring, or in the tree from its root.
    """

    def __init__(
        self, group: Any = None, algorithm: str = "ring", order: Sequence[int] | None = None
    ) -> None:
        if algorithm not in ALGORITHMS:
            raise ValueError(f"{algorithm!r} is no collective algorithm: {', '.join(ALGORITHMS)}")
        self.group, self.algorithm = group, algorithm
        self.size = dist.get_world_size(group)
        self.order = tuple(range(self.size)) if order is None else tuple(order)
        if sorted(self.order) != list(range(self.size)):
            raise ValueError(f"order {self.order} is no permutation of {self.size} ranks")
        self.place = self.order.index(dist.get_rank(group))

    def all_reduce(self, tensor: torch.Tensor) -> torch.Tensor:
        """Sum `tensor` over the ranks, in place; returns it."""
        if self.size > 1:
            flat = tensor.contiguous().view(-1)
            self._ring_reduce(flat) if self.algorithm == "ring" else self._tree_reduce(flat)
            if flat.data_ptr() != tensor.data_ptr():
                tensor.copy_(flat.view_as(tensor))
        return tensor

    def all_gather(self, tensor: torch.Tensor) -> torch.Tensor:
        """`[N, ...]` of each rank → `[size * N, ...]`, by rank."""
        parts = torch.zeros((self.size, *tensor.shape), dtype=tensor.dtype, device=tensor.device)
        parts[self.order[self.place]] = tensor
        if self.algorithm == "ring":
            self._ring_gather([parts[rank] for rank in self.order], self.place)
        else:  # each rank's part is zero elsewhere: the sum is the collection
            self._tree_reduce(parts)
        return parts.flatten(0, 1)

    def _peer(self, place: int) -> int:
        rank = self.order[place % self.size]
        return rank if self.group is None else int(dist.get_global_rank(self.group, rank))

    def _send(self, tensor: torch.Tensor, place: int) -> Any:
        return dist.isend(tensor.contiguous(), self._peer(place), group=self.group)

    def _receive(self, tensor: torch.Tensor, place: int) -> torch.Tensor:
        dist.recv(tensor, self._peer(place), group=self.group)
        return tensor

    def _ring_reduce(self, flat: torch.Tensor) -> None:
        """Each part travels once around and is summed, then once more to be known to all."""
        parts = list(torch.tensor_split(flat, self.size))
        for step in range(self.size - 1):
            sent = self._send(parts[(self.place - step) % self.size], self.place + 1)
            mine = parts[(self.place - step - 1) % self.size]
            mine.add_(self._receive(torch.empty_like(mine), self.place - 1))
            sent.wait()
        self._ring_gather(parts, self.place + 1)

    def _ring_gather(self, parts: list[torch.Tensor], first: int) -> None:
        """Hand on, `size - 1` times, what came last; `parts[first]` is what this rank has."""
        for step in range(self.size - 1):
            sent = self._send(parts[(first - step) % self.size], self.place + 1)
            self._receive(parts[(first - step - 1) % self.size], self.place - 1)
            sent.wait()

    def _tree_reduce(self, tensor: torch.Tensor) -> None:
        """Sums go up to the root, which hands the total down again."""
        parent = (self.place - 1) // 2
        children = [c for c in (2 * self.place + 1, 2 * self.place + 2) if c < self.size]
        for child in children:
            tensor.add_(self._receive(torch.empty_like(tensor), child))
        if self.place:
            self._send(tensor, parent).wait()
            self._receive(tensor, parent)
        for request in [self._send(tensor, child) for child in children]:
            request.wait()


@functools.cache
def _of(group: Any, algorithm: str, topology: str | None) -> Communicator:
    matrix = json.loads(Path(topology).read_text(encoding="utf-8")) if topology else None
    ranks = dist.get_process_group_ranks(group)
    order = ring_order([[matrix[a][b] for b in ranks] for a in ranks]) if matrix else None
    return Communicator(group, algorithm, order)


def reduce_for_sglang(original: Any, coordinator: Any, input_: torch.Tensor) -> torch.Tensor:
    """Stands around `GroupCoordinator.all_reduce`."""
    algorithm = os.environ[SWITCH]
    topology = os.environ.get("KUNLUN_TOPOLOGY")
    return _of(coordinator.device_group, algorithm, topology).all_reduce(input_)
