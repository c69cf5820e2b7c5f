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
    "planning": {"contract"},
    "report": {"verify"},
    "live": {"contract", "surface", "fakes"},
    "suite": {"live", "contract", "surface", "plugin", "verify", "fakes"},
    "serving": {"live", "suite"},
    "doctor": {"serving", "suite", "plugin"},
    "certify": {"serving", "suite", "live", "contract", "surface", "plugin", "verify", "fakes"},
}
ANYONE = {"errors", "files", "paths", "subprocesses", "disk_cache", "code_digest", "inert"}
HEAVY = {"torch", "numpy", "sglang", "pytest", "hypothesis", "transformers"}
STATIC = ("surface", "contract", "plugin", "verify", "planning", "report", "cli")


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


def circle(root: Path) -> list[str]:
    """A circle of imports among the modules of a package; empty where there is none.

    Imports for types alone and inside of functions count. ``from package import module`` is an
    import of the module, not of what the package's ``__init__`` offers. Modules beside one that
    it lists as ``ORDER`` are imported by their names.
    """
    paths = {}
    for path in root.rglob("*.py"):
        parts = path.relative_to(root.parent).with_suffix("").parts
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
            elif isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "ORDER":
                beside = ast.literal_eval(node.value)
                found.update(f"{name.rpartition('.')[0]}.{each}" for each in beside)
        edges[name] = found & set(paths) - {name}
    try:
        graphlib.TopologicalSorter(edges).prepare()
    except graphlib.CycleError as error:
        return list(error.args[1])
    return []


def test_no_modules_import_each_other_in_a_circle():
    assert circle(ROOT) == []


def test_the_reference_plugin_has_no_circle():
    assert circle(ROOT.parent / "kunlun_backend" / "src" / "kunlun_backend") == []


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
    (package / "d.py").write_text('ORDER = ("a",)\n')
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


INSIDE = {
    "plugin": {
        "ir": set(),
        "reading": set(),
        "launch": set(),
        "walk": {"ir"},
        "extract": {"ir", "reading", "launch", "walk"},
        "plugin": {"ir", "reading", "extract"},
    },
    "verify": {
        "answers": set(),
        "findings": set(),
        "silences": {"findings"},
        "values": {"answers"},
        "suggest": {"findings", "values"},
        "rules": {"answers", "findings", "silences", "values", "suggest"},
        "clauses": {"answers", "findings", "suggest"},
        "commands": {
            "answers",
            "findings",
            "silences",
            "values",
            "suggest",
            "rules",
            "clauses",
        },
    },
}
"""Inside a package: part → the parts that it may import."""


@pytest.mark.parametrize("package", INSIDE)
def test_a_part_of_a_package_imports_only_parts_below_it(package):
    allowed = INSIDE[package]
    graphlib.TopologicalSorter(allowed).prepare()  # the picture itself has no circle
    wrong = []
    for path in sorted((ROOT / package).rglob("*.py")):
        inside = path.relative_to(ROOT / package)
        part = inside.parts[0].removesuffix(".py")
        if part == "__init__":
            continue
        for name in imported(path):
            parts = name.split(".")
            within = parts[:2] == ["sglang_contracts", package] and len(parts) > 2
            if within and parts[2] not in allowed[part] | {part}:
                wrong.append(f"{inside} imports {name}")
    assert wrong == []


UNTYPED = ("plugin/ir", "verify/values")
"""Folders in which nothing may be of any type."""
LINES = 500
LEVELS = 2


def trees(*folders: str) -> dict[str, ast.Module]:
    """Path → syntax tree of the modules in some folders of the framework; of all, without any."""
    return {
        str(path.relative_to(ROOT)): ast.parse(path.read_text(encoding="utf-8"))
        for each in folders or ("",)
        for path in sorted((ROOT / each).rglob("*.py"))
    }


@pytest.mark.parametrize("folder", UNTYPED)
def test_nodes_and_values_are_typed_through_and_through(folder):
    assert [
        f"{path}:{node.lineno}"
        for path, tree in trees(folder).items()
        for node in ast.walk(tree)
        if (isinstance(node, ast.Name) and node.id == "Any")
        or (isinstance(node, ast.Attribute) and node.attr == "Any")
    ] == []


def test_no_module_is_longer_than_can_be_read_at_a_sitting():
    lines = {
        str(path.relative_to(ROOT)): len(path.read_text(encoding="utf-8").splitlines())
        for path in ROOT.rglob("*.py")
    }
    assert [path for path, count in lines.items() if count > LINES] == []


def levels(modules: dict[str, ast.Module]) -> dict[tuple[str, str], int]:
    """Class, by module and name → how many classes of the modules stand on one another up to it.

    Exceptions and protocols do not count.
    """
    bases: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for path, tree in modules.items():
        imports = {
            alias.asname or alias.name: (node.module.replace(".", "/"), alias.name)
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom) and node.module
            for alias in node.names
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                named = [ast.unparse(base).partition("[")[0] for base in node.bases]
                bases[path, node.name] = [
                    imports.get(name, (f"sglang_contracts/{path[:-3]}", name)) for name in named
                ]

    def level(one: tuple[str, str], above: frozenset[tuple[str, str]] = frozenset()) -> int:
        if one not in bases or one in above or one[1].endswith("Error"):
            return 0
        inner = [(f"{module.partition('/')[2]}.py", name) for module, name in bases[one] if module]
        return 1 + max((level(each, above | {one}) for each in inner), default=0)

    return {one: level(one) for one in bases}


def test_no_hierarchy_of_classes_is_deeper_than_two():
    assert [one for one, count in levels(trees()).items() if count > LEVELS] == []


def test_levels_of_classes_are_counted_through_imports():
    base = ast.parse("class A(Protocol): ...\nclass B(A): ...\nclass OwnError(B): ...\n")
    user = ast.parse("from sglang_contracts.p.a import B as Base\nclass C(Base[int]): ...\n")
    found = levels({"p/a.py": base, "p/b.py": user})
    assert found == {
        ("p/a.py", "A"): 1,
        ("p/a.py", "B"): 2,
        ("p/a.py", "OwnError"): 0,
        ("p/b.py", "C"): 3,
    }
