"""Uses and clauses against recorded releases: findings, as plain values.

:func:`check_plugin` is what ``check`` and ``matrix`` stand on, :func:`uses_of` what ``uses``
prints, :func:`upgrade_report` the dossier of ``upgrade``, :func:`launch_check` the flags of one
command. None of them words anything; :mod:`sglang_contracts.report` does.
"""

from __future__ import annotations

from typing import Any

__all__ = ["check_plugin", "launch_check", "matrix_report", "upgrade_report", "uses_of"]


def __getattr__(name: str) -> Any:
    """Import the engine when it is first asked for: ``--help`` needs none of it."""
    if name in __all__:
        from sglang_contracts.verify.commands import check as uses

        return getattr(uses, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
