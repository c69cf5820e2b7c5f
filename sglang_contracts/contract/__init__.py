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
    Shown,
    Variant,
    known_names,
    variant,
)
from sglang_contracts.contract.ranges import Range, RangeError
from sglang_contracts.contract.store import load_contract, load_contracts, select

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
    "Shown",
    "Variant",
    "known_names",
    "load_contract",
    "load_contracts",
    "select",
    "variant",
]
