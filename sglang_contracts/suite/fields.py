"""The vectors of a forward batch: with the dtype and on the side that their contract states."""

from __future__ import annotations

import functools
from typing import Any

from sglang_contracts.suite.context import contracts_by_id

_FIELDS = {
    # name: (dtype, device) where no contract says it
    "input_ids": ("int64", "compute"),
    "req_pool_indices": ("int64", "compute"),
    "seq_lens": ("int64", "compute"),
    "seq_lens_cpu": ("int64", "host"),
    "orig_seq_lens": ("int32", "compute"),
    "out_cache_loc": ("int64", "compute"),
    "positions": ("int64", "compute"),
    "extend_seq_lens": ("int32", "compute"),
    "extend_prefix_lens": ("int32", "compute"),
    "extend_start_loc": ("int32", "compute"),
}


@functools.cache
def _said(release: str) -> dict[str, tuple[tuple[str, ...], str]]:
    """Field of the forward batch → dtypes and side, as far as the contract says them."""
    from sglang_contracts.contract import variant

    found: dict[str, tuple[tuple[str, ...], str]] = {
        name: ((dtype,), side) for name, (dtype, side) in _FIELDS.items()
    }
    contract = contracts_by_id().get("forward-batch")
    for clause in contract.clauses if contract is not None else ():
        name = clause.id.partition("/")[2]
        if name in found and clause.holds_in(release):
            dtypes = variant(clause.dtype, release) or found[name][0]
            found[name] = (dtypes, clause.device or found[name][1])
    return found


def typed(release: str, name: str, values: list[int], seed: int, device: str) -> Any:
    """A vector of the batch with the dtype and on the device that its contract states.

    Args:
        release: The SGLang release.
        name: Field of the forward batch.
        values: Its numbers.
        seed: Where a contract leaves a choice of dtypes, each is tried: this one's.
        device: What is ``compute``.
    """
    import torch

    dtypes, side = _said(release)[name]
    made = torch.tensor(values, dtype=getattr(torch, dtypes[seed % len(dtypes)]))
    return made if side == "host" else made.to(device)
