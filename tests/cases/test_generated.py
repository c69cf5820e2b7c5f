"""A small draw of the incidents that ``generate.py`` makes; it makes thousands itself."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from sglang_contracts.surface import load_catalog


def _generate() -> ModuleType:
    spec = importlib.util.spec_from_file_location(
        "generate", Path(__file__).with_name("generate.py")
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["generate"] = module
    spec.loader.exec_module(module)
    return module


def test_random_differences_are_found_and_nothing_else_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SGLANG_CONTRACTS_CACHE", str(tmp_path))
    catalog = load_catalog()
    pairs = list(zip(catalog.releases, catalog.releases[1:], strict=False))[::12]
    score = _generate().run(catalog, pairs, 30, seed=7)
    breaks = sum(n for kind, n in score.total.items() if kind != "silent")
    assert breaks > 60
    assert score.total["silent"] > 20
    assert sum(score.found.values()) / breaks >= 0.98, score.missed[:3]
    assert score.dated == score.found
    assert not score.false, score.wrong[:3]
