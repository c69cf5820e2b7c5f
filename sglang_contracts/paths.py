"""Where the shipped data and the user's own data lie."""

from __future__ import annotations

import os
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def data(kind: str) -> Path:
    """The folder of shipped data: ``contracts`` or ``matrix``.

    In a wheel it is ``sglang_contracts/data/<kind>``; in a checkout, that folder at the top.
    """
    installed = _PACKAGE / "data" / kind
    return installed if installed.is_dir() else _PACKAGE.parent / kind


def cache() -> Path:
    """The user's cache folder: ``SGLANG_CONTRACTS_CACHE``, else the platform's own place."""
    chosen = os.environ.get("SGLANG_CONTRACTS_CACHE")
    if chosen:
        return Path(chosen)
    import platformdirs

    return Path(platformdirs.user_cache_dir("sglang-contracts"))


def package() -> Path:
    """The folder of the installed package itself."""
    return _PACKAGE
