"""The arrows of docs/architecture.md: what may import what."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import sglang_contracts

ROOT = Path(sglang_contracts.__file__).parent
ALLOWED = {
    "surface": set(),
    "contract": {"surface"},
    "plugin": {"contract", "surface"},
    "verify": {"surface", "contract", "plugin"},
    "report": {"verify"},
    "live": {"contract", "surface", "fakes"},
    "suite": {"live", "contract", "surface", "plugin", "verify", "fakes"},
    "certify": {"suite", "live", "contract", "surface", "plugin", "verify", "fakes"},
}
ANYONE = {"errors", "files", "paths"}
HEAVY = {"torch", "numpy", "sglang", "pytest", "hypothesis", "transformers"}
STATIC = ("surface", "contract", "plugin", "verify", "report", "cli")


def imported(path: Path) -> set[str]:
    """Absolute names of all modules a file imports, wherever in it."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module)
            names.update(f"{node.module}.{alias.name}" for alias in node.names)
    return names


@pytest.mark.parametrize("package", ALLOWED)
def test_a_package_imports_only_what_lies_below_it(package):
    wrong = []
    for path in sorted((ROOT / package).rglob("*.py")):
        for name in imported(path):
            parts = name.split(".")
            if parts[0] != "sglang_contracts" or len(parts) < 2:
                continue
            known = parts[1] in ALLOWED or parts[1] in ANYONE | {"cli", "fakes"}
            if known and parts[1] not in ALLOWED[package] | ANYONE | {package}:
                wrong.append(f"{path.relative_to(ROOT)} imports {name}")
    assert wrong == []


@pytest.mark.parametrize("package", STATIC)
def test_static_code_imports_neither_sglang_nor_torch(package):
    wrong = [
        f"{path.relative_to(ROOT)} imports {name}"
        for path in sorted((ROOT / package).rglob("*.py"))
        for name in imported(path)
        if name.split(".")[0] in HEAVY
    ]
    assert wrong == []
