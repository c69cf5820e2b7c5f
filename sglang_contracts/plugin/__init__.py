"""What a plugin relies on, by static analysis alone: nothing is imported, nothing executed."""

from __future__ import annotations

from typing import Any

__all__ = ["Plugin", "load_plugin"]


def __getattr__(name: str) -> Any:
    """Import the analysis when it is first asked for."""
    if name in __all__:
        from sglang_contracts.plugin import plugin

        return getattr(plugin, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
