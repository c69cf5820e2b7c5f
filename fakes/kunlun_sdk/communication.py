"""Collectives of the stand-in: what the vendor's library does behind `torch.distributed`.

The names are ours: public plugins reach the vendor's collectives through the process group's
own backend. They serve as the "library" choice beside the reference's ring and tree.
"""

from __future__ import annotations

import torch
import torch.distributed as dist


def all_reduce(tensor: torch.Tensor, group: dist.ProcessGroup | None = None) -> None:
    """Sum `tensor` over the group's ranks, in place."""
    dist.all_reduce(tensor, group=group)


def all_gather_into_tensor(
    out: torch.Tensor, tensor: torch.Tensor, group: dist.ProcessGroup | None = None
) -> None:
    """Gather each rank's `tensor [N, ...]` into `out [ranks * N, ...]`, by rank."""
    parts = list(out.chunk(dist.get_world_size(group)))
    dist.all_gather(parts, tensor, group=group)
    out.copy_(torch.cat(parts))
