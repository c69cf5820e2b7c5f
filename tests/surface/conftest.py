"""Small releases of an imaginary sglang, written as sources and zipped into wheels."""

from __future__ import annotations

import textwrap
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from sglang_contracts.surface.catalog import Catalog
from sglang_contracts.surface.record import record
from sglang_contracts.surface.surface import Surface

MakeWheel = Callable[..., Path]


@pytest.fixture
def make_wheel(tmp_path: Path) -> MakeWheel:
    """``make_wheel("0.5.1", {"srt/x.py": "..."})`` writes a wheel of that release."""

    def make(version: str, files: Mapping[str, str], tag: str = "py3-none-any") -> Path:
        path = tmp_path / "wheels" / f"sglang-{version}-{tag}.whl"
        path.parent.mkdir(exist_ok=True)
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, text in files.items():
                archive.writestr(f"sglang/{name}", textwrap.dedent(text))
        return path

    return make


@pytest.fixture
def make_surface(make_wheel: MakeWheel, tmp_path: Path) -> Callable[..., Surface]:
    """``make_surface({"srt/x.py": "..."})`` records one release and opens it."""

    def make(files: Mapping[str, str], version: str = "0.5.1") -> Surface:
        catalog = Catalog(tmp_path / "shipped", tmp_path / "user")
        record(str(make_wheel(version, files)), catalog)
        return Catalog(tmp_path / "shipped", tmp_path / "user").surface(version)

    return make
