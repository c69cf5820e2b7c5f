"""Long proofs on real wheels: run by `tox -m release`, not by the ordinary tests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from sglang_contracts.surface import load_catalog, obtain


@pytest.fixture(scope="session")
def catalog():
    return load_catalog()


@pytest.fixture(scope="session")
def wheel_of(tmp_path_factory):
    """``wheel_of("0.5.23")``: the release's wheel, fetched once.

    Wheels are kept in ``SGLANG_CONTRACTS_WHEELS`` where that names a folder.
    """
    kept = os.environ.get("SGLANG_CONTRACTS_WHEELS")
    folder = Path(kept) if kept else tmp_path_factory.mktemp("wheels")

    def fetch(release: str) -> Path:
        found = sorted(folder.glob(f"sglang-{release}-*.whl"))
        return found[0] if found else obtain.download(release, folder)

    return fetch
