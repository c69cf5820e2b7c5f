"""The contract language: TOML → frozen values, dimensions, layouts, invariants, digests."""

from __future__ import annotations

from sglang_contracts.contract.model import (
    SURFACE_KINDS,
    Clause,
    Contract,
    Kind,
    KvWrites,
    On,
    Replacement,
    Returns,
    Role,
    Variant,
    known_names,
    variant,
)
from sglang_contracts.contract.ranges import Range, RangeError

__all__ = [
    "SURFACE_KINDS",
    "Clause",
    "Contract",
    "Kind",
    "KvWrites",
    "On",
    "Range",
    "RangeError",
    "Replacement",
    "Returns",
    "Role",
    "Variant",
    "known_names",
    "variant",
]
