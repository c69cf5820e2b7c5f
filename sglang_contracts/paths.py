"""Where the shipped data and the user's own data lie."""

from __future__ import annotations

import os
from pathlib import Path

from sglang_contracts.errors import ContractsError

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


def checkout(instead: str = "") -> Path:
    """The top folder of the checkout that this package runs from.

    Args:
        instead: What else can be done in an installed copy.

    Raises:
        ContractsError: It runs from an installed copy; how to install a checkout is said.
    """
    top = package().parent
    if _is_checkout(top):
        return top
    here = Path.cwd()
    near = next((each for each in (here, *here.parents) if _is_checkout(each)), None)
    if near is not None:
        raise ContractsError(
            f"this command runs from an installed copy, not from the checkout in {near}",
            f"pip install -e '{near}[suite]', and type it again",
        )
    raise ContractsError(
        "this is no checkout of sglang-contracts: nothing is written into an installed copy",
        (f"{instead}; or i" if instead else "i") + "n a checkout: pip install -e '.[suite]'",
    )


def _is_checkout(folder: Path) -> bool:
    return all((folder / each).is_dir() for each in ("sglang_contracts", "contracts", "tests"))
