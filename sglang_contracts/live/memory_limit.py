"""A bound for the memory of engines and servers of tiny models, kept by the system.

Such a process takes less than a gigabyte and has 3 GiB of addresses. One that runs away without a
bound takes the host's memory, and the system ends it, or whatever else is largest, without a word.
Within the bound it raises ``MemoryError`` where it happens, and its log has the line.
"""

from __future__ import annotations

import os

VARIABLE = "SGLANG_CONTRACTS_MEMORY_LIMIT"
"""Bytes of addresses that a process, and each that it starts, may have; empty: no bound."""

TINY = 12 << 30
"""The bound for a tiny model."""


def apply() -> None:
    """Bound this process and what it starts, where :data:`VARIABLE` says so (not on Windows)."""
    wanted = os.environ.get(VARIABLE, "")
    if not wanted.isdigit() or os.name != "posix":
        return
    import resource

    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    most = int(wanted) if hard == resource.RLIM_INFINITY else min(int(wanted), hard)
    resource.setrlimit(resource.RLIMIT_AS, (most, hard))
