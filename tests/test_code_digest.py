"""Everything that is kept between runs is keyed by one digest of the code."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from sglang_contracts import code_digest as module
from sglang_contracts import paths

ROOT = Path(paths.package())


@pytest.fixture
def copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for package in module.STATIC:
        shutil.copytree(ROOT / package, tmp_path / package)
    for file in ROOT.glob("*.py"):
        shutil.copy(file, tmp_path)
    monkeypatch.setattr(paths, "package", lambda: tmp_path)
    return tmp_path


def digest() -> str:
    return module.code_digest.__wrapped__()


def test_equal_code_in_another_place_has_the_same_digest(copied: Path) -> None:
    assert digest() == module.code_digest()


@pytest.mark.parametrize("package", module.STATIC)
def test_a_change_of_equal_length_and_time_anywhere_below_changes_it(
    copied: Path, package: str
) -> None:
    import os

    before = digest()
    deepest = max((copied / package).rglob("*.py"), key=lambda path: len(path.parts))
    state = deepest.stat()
    deepest.write_bytes(deepest.read_bytes()[:-2] + b" \n")
    os.utime(deepest, ns=(state.st_atime_ns, state.st_mtime_ns))
    assert deepest.stat().st_size == state.st_size
    assert digest() != before


def test_a_module_that_moves_changes_it(copied: Path) -> None:
    before = digest()
    path = copied / "verify" / "values" / "evaluator.py"
    path.rename(path.with_name("other.py"))
    assert digest() != before


def test_another_python_has_another_digest(copied: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = digest()
    monkeypatch.setattr("sys.version_info", (3, 99, 0))
    assert digest() != before
