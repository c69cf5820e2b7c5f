"""The arrows of docs/architecture.md: what may import what."""

from __future__ import annotations

import ast
import graphlib
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
    "serving": {"live", "suite"},
    "certify": {"suite", "live", "contract", "surface", "plugin", "verify", "fakes"},
}
ANYONE = {"errors", "files", "paths", "subprocesses", "disk_cache", "code_digest", "inert"}
HEAVY = {"torch", "numpy", "sglang", "pytest", "hypothesis", "transformers"}
CIRCLES = {"verify"}
"""Packages whose import circles are still to be undone: take one out when its last one is."""
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


def circle(root: Path, leave_out: frozenset[str] = frozenset()) -> list[str]:
    """A circle of imports among the modules of a package; empty where there is none.

    Imports for types alone and inside of functions count. ``from package import module`` is an
    import of the module, not of what the package's ``__init__`` offers.
    """
    paths = {}
    for path in root.rglob("*.py"):
        parts = path.relative_to(root.parent).with_suffix("").parts
        if len(parts) < 2 or parts[1] not in leave_out:
            paths[".".join(parts).removesuffix(".__init__")] = path
    edges = {}
    for name, path in paths.items():
        found: set[str] = set()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                found.update(alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module:
                inner = (f"{node.module}.{alias.name}" for alias in node.names)
                found.update(each if each in paths else node.module for each in inner)
        edges[name] = found & set(paths) - {name}
    try:
        graphlib.TopologicalSorter(edges).prepare()
    except graphlib.CycleError as error:
        return list(error.args[1])
    return []


def test_no_modules_import_each_other_in_a_circle():
    assert circle(ROOT, frozenset(CIRCLES)) == []


def test_the_reference_plugin_has_no_circle():
    assert circle(ROOT.parent / "kunlun_backend" / "src" / "kunlun_backend") == []


@pytest.mark.parametrize("package", sorted(CIRCLES))
def test_the_list_of_packages_with_circles_only_shrinks(package):
    others = {path.name for path in ROOT.iterdir() if path.is_dir()} - {package}
    assert circle(ROOT, frozenset(others)), f"{package} has no circle now: take it out of CIRCLES"


def test_a_circle_is_seen_through_packages_types_and_functions(tmp_path):
    package = tmp_path / "p"
    package.mkdir()
    (package / "__init__.py").write_text("from p.a import A\n")
    (package / "a.py").write_text("def f():\n    from p import b\n")
    (package / "b.py").write_text("if TYPE_CHECKING:\n    from p.c import C\n")
    (package / "c.py").write_text("import p.d\n")
    (package / "d.py").write_text("")
    assert circle(package) == []
    (package / "d.py").write_text("from p import a\n")
    assert set(circle(package)) == {"p.a", "p.b", "p.c", "p.d"}
    (package / "d.py").write_text("from p import A\n")
    assert set(circle(package)) == {"p", "p.a", "p.b", "p.c", "p.d"}


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
