"""Uses and clauses against recorded releases: findings, as plain values.

:func:`check_plugin` is what ``check`` and ``matrix`` stand on, :func:`uses_of` what ``uses``
prints, :func:`upgrade_report` the dossier of ``upgrade``, :func:`launch_check` the flags of one
command. None of them words anything; :mod:`sglang_contracts.report` does.
"""

from __future__ import annotations

import importlib
from typing import Any

__all__ = ["check_plugin", "launch_check", "matrix_report", "upgrade_report", "uses_of"]

_COMMANDS = {"launch_check": "launch", "upgrade_report": "upgrade", "uses_of": "uses"}
"""Name → the module in :mod:`sglang_contracts.verify.commands` that has it, if not ``check``."""


def __getattr__(name: str) -> Any:
    """Import the engine when it is first asked for: ``--help`` needs none of it."""
    if name in __all__:
        where = f"{__name__}.commands.{_COMMANDS.get(name, 'check')}"
        return getattr(importlib.import_module(where), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
