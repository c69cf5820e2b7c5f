"""A version comparison leads to its branch in the releases it says, however it is written."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from sglang_contracts.surface import Catalog, load_catalog
from sglang_contracts.verify import check_plugin
from sglang_contracts.verify.findings.finding import Finding, Severity

CheckText = Callable[[str], dict[str, list[Finding]]]

HEAD = """\
import importlib.metadata
from importlib.metadata import version as installed
import sglang
from packaging import version
from packaging.specifiers import SpecifierSet
from packaging.version import Version, parse
from packaging.version import Version as V
from sglang import __version__
"""
NEW = "from sglang.srt.moved import Mover"
OLD = "from sglang.srt.names import Mover"

COMPARISONS = {
    "attribute": "version.parse(sglang.__version__) >= version.parse('0.5.2')",
    "imported name": "Version(__version__) >= Version('0.5.2')",
    "alias of the parser": "V(__version__) >= V('0.5.2')",
    "distribution": "parse(importlib.metadata.version('sglang')) >= parse('0.5.2')",
    "distribution by another name": "Version(installed('sglang')) >= Version('0.5.2')",
    "constant first": "parse('0.5.2') <= parse(sglang.__version__)",
    "negated": "not parse(sglang.__version__) < parse('0.5.2')",
    "greater than the one before": "parse(sglang.__version__) > parse('0.5.1')",
    "a span": "parse('0.5.2') <= parse(sglang.__version__) < parse('0.6')",
    "two bounds": "V(__version__) > V('0.5.1') and V(__version__) < V('0.6')",
    "numbers of a split": "tuple(int(x) for x in __version__.split('.')[:3]) >= (0, 5, 2)",
    "a mapped split": "tuple(map(int, __version__.split('.')[:3])) >= (0, 5, 2)",
    "a list": "[int(x) for x in __version__.split('.')[:3]] >= [0, 5, 2]",
    "release numbers": "Version(__version__).release >= (0, 5, 2)",
    "one number": "Version(__version__).micro >= 2",
    "one number of a split": "int(__version__.split('.')[2]) >= 2",
    "specifier": "Version(__version__) in SpecifierSet('>=0.5.2')",
    "contained": "SpecifierSet('>=0.5.2').contains(__version__)",
    "text": "__version__ >= '0.5.2'",
    "one of several texts": "__version__ in ('0.5.2', '0.5.3')",
    "beginning": "__version__.startswith('0.5.2')",
    "without local part": "V(__version__.split('+')[0]) >= V('0.5.2')",
    "default": "V(getattr(sglang, '__version__', '0')) >= V('0.5.2')",
}
WAYS = {
    "as it stands": ("", "{}"),
    "constant": ("IS_NEW = {}\n", "IS_NEW"),
    "function": ("def is_new():\n    return {}\n", "is_new()"),
    "class attribute": ("class Compat:\n    new = {}\n", "Compat.new"),
    "early return": (
        "def is_new():\n    if {}:\n        return True\n    return False\n",
        "is_new()",
    ),
}
HELPERS = {
    "of a text": (
        "def at_least(text):\n    return parse(__version__) >= parse(text)\n",
        "at_least('0.5.2')",
    ),
    "of numbers": (
        "def at_least(major, minor, micro):\n"
        "    return Version(__version__).release >= (major, minor, micro)\n",
        "at_least(0, 5, 2)",
    ),
    "of any numbers": (
        "def at_least(*parts):\n    return Version(__version__).release >= parts\n",
        "at_least(0, 5, 2)",
    ),
    "its answer kept": (
        "def at_least(text):\n    return V(__version__) >= V(text)\nNEW = at_least('0.5.2')\n",
        "NEW",
    ),
    "that finds the version": (
        "def found():\n    try:\n        return parse(installed('sglang'))\n"
        "    except Exception:\n        return parse('0')\n",
        "found() >= parse('0.5.2')",
    ),
    "that cuts up a version": (
        "def numbers(text):\n    return tuple(int(x) for x in text.split('.')[:3])\n",
        "numbers(__version__) >= (0, 5, 2)",
    ),
    "that compares two": (
        "def newer(one, other):\n    return V(one) >= V(other)\n",
        "newer(sglang.__version__, '0.5.2')",
    ),
    "threshold by a name": ("OLDEST = Version('0.5.2')\n", "V(__version__) >= OLDEST"),
    "version kept in a try": (
        "try:\n    FOUND = installed('sglang')\nexcept Exception:\n    FOUND = '0'\n",
        "V(FOUND) >= V('0.5.2')",
    ),
    "three numbers": (
        "F = V(__version__)\nFOUND = (F.major, F.minor, F.micro)\n",
        "FOUND >= (0, 5, 2)",
    ),
}
GUARDS = {
    f"{name}, {way}": (head.format(text), test.format(text))
    for name, text in COMPARISONS.items()
    for way, (head, test) in WAYS.items()
} | HELPERS


@pytest.fixture(params=GUARDS)
def guard(request: pytest.FixtureRequest) -> tuple[str, str]:
    """What stands before the branch, and its test: true from 0.5.2 on."""
    return GUARDS[request.param]


def branches(guard: tuple[str, str], first: str, second: str) -> str:
    head, test = guard
    return f"{HEAD}{head}if {test}:\n    {first}\nelse:\n    {second}\n"


def test_a_right_guard_says_nothing(guard: tuple[str, str], check_text: CheckText) -> None:
    found = check_text(branches(guard, NEW, OLD))
    assert [(f.rule, f.symbol) for f in found["0.5.1"] + found["0.5.2"]] == []


def test_an_inverted_guard_is_wrong_in_both(guard: tuple[str, str], check_text: CheckText) -> None:
    found = check_text(branches(guard, OLD, NEW))
    assert [[f.rule for f in found[each]] for each in ("0.5.1", "0.5.2")] == [
        ["guard-wrong"],
        ["guard-wrong"],
    ]
    assert all("the wrong way round" in f.detail for each in found.values() for f in each)


@pytest.mark.parametrize(
    "text",
    [
        f"def f():\n    if V(__version__) >= V('0.5.2'):\n        {NEW}\n        return Mover\n"
        f"    {OLD}\n    return Mover\n",
        f"if V(__version__) < V('0.5.2'):\n    raise RuntimeError('too old')\n{NEW}\n",
        f"assert V(__version__) >= V('0.5.2')\n{NEW}\n",
        f"class C:\n    def __init__(self):\n        self.new = V(__version__) >= V('0.5.2')\n"
        f"    def f(self):\n        if self.new:\n            {NEW}\n"
        f"        else:\n            {OLD}\n",
        "import importlib\nm = importlib.import_module('sglang.srt.moved' if V(__version__) >= "
        "V('0.5.2') else 'sglang.srt.gone')\n",
    ],
)
def test_what_a_guard_leads_to_without_an_else(text: str, check_text: CheckText) -> None:
    found = check_text(HEAD + text)
    assert [(f.rule, f.symbol) for f in found["0.5.1"] + found["0.5.2"]] == []


def test_a_guard_of_another_file_counts(
    two_releases: Catalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SGLANG_CONTRACTS_CACHE", str(tmp_path / "cache"))
    root = tmp_path / "own"
    root.mkdir()
    (root / "__init__.py").write_text("")
    (root / "compat.py").write_text(
        f"{HEAD}FOUND = V(__version__)\nOLDEST = V('0.5.2')\nIS_NEW = FOUND >= OLDEST\n"
        "def at_least(text):\n    return FOUND >= V(text)\n"
    )
    for number, test in enumerate(
        (
            "IS_NEW",
            "at_least('0.5.2')",
            "FOUND >= OLDEST",
            "compat.IS_NEW",
            "compat.FOUND >= OLDEST",
        )
    ):
        (root / f"part{number}.py").write_text(
            "from own import compat\nfrom own.compat import FOUND, IS_NEW, OLDEST, at_least\n"
            f"if {test}:\n    {NEW}\nelse:\n    {OLD}\n"
        )
    report = check_plugin(root, two_releases, two_releases.releases)
    assert [f.symbol for each in report.releases for f in each.findings] == []


def test_a_condition_on_something_else_decides_nothing(check_text: CheckText) -> None:
    text = f"import os\nif os.environ.get('MODE', '0.5.2') >= '0.5.2':\n    {OLD}\n"
    assert [f.severity for f in check_text(text)["0.5.2"]] == [Severity.ERROR]


# -- the branches themselves, over the real releases -----------------------------------------------

PRE = "import sglang\nfrom packaging.version import Version as V\nF = V(sglang.__version__)\n"
AROUND = ("0.5.12", "0.5.12.post1", "0.5.13")


def told(tmp_path: Path, text: str, *releases: str) -> dict[str, list[tuple[str, int, str]]]:
    """Release → rule, line and severity of what is found."""
    root = tmp_path / "plugin"
    root.mkdir(exist_ok=True)
    (root / "plugin.py").write_text(PRE + text)
    report = check_plugin(root, load_catalog(), releases or AROUND)
    return {
        entry.release: [(f.detail, f.locations[0].line, f.severity.value) for f in entry.findings]
        for entry in report.releases
    }


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SGLANG_CONTRACTS_CACHE", str(tmp_path / "cache"))


@pytest.mark.parametrize(
    "text",
    [
        "if F <= V('0.5.12'):\n    a = 1\nelif F >= V('0.5.13'):\n    a = 2\n",
        "if F <= V('0.5.12'):\n    a = 1\nif F >= V('0.5.13'):\n    a = 2\n",
        "def f():\n    if F <= V('0.5.12'):\n        a = 1\n"
        "    elif F >= V('0.5.13'):\n        a = 2\n    return a\n",
    ],
)
def test_a_post_release_between_two_branches_is_a_gap(text: str, tmp_path: Path) -> None:
    found = told(tmp_path, text)
    assert found["0.5.12"] == found["0.5.13"] == []
    [(detail, line, severity)] = found["0.5.12.post1"]
    assert detail == "no branch is for 0.5.12.post1, so that a is not bound"
    assert line == 5 if "def" in text else 4
    assert severity == "error"


def test_a_gap_that_leaves_something_undone_is_a_warning(tmp_path: Path) -> None:
    text = "if F < V('0.5.12.post1'):\n    print(1)\nelif F >= V('0.5.13'):\n    print(2)\n"
    assert [s for _, _, s in told(tmp_path, text)["0.5.12.post1"]] == ["warning"]


@pytest.mark.parametrize(
    "text",
    [
        "if F < V('0.5.13'):\n    a = 1\nelif F >= V('0.5.13'):\n    a = 2\n",
        "if F <= V('0.5.12'):\n    a = 1\nelif F > V('0.5.12'):\n    a = 2\n",
        "a = 0\nif F <= V('0.5.12'):\n    a = 1\nelif F >= V('0.5.13'):\n    a = 2\n",
        "if F <= V('0.5.12'):\n    a = 1\nelif F >= V('0.5.13'):\n    a = 2\nelse:\n    a = 3\n",
        "if F == V('0.5.12'):\n    print(1)\nelif F == V('0.5.13'):\n    print(2)\n",
        "if F <= V('0.5.12'):\n    print(1)\n",
        "if F >= V('99'):\n    print(1)\n",
        "DEBUG = False\nif DEBUG:\n    print(1)\n",
        "def debug():\n    return False\nif debug():\n    print(1)\n",
        "def has(x):\n    if hasattr(x, 'y'):\n        return True\n    return False\n"
        "def f(b):\n    if has(b):\n        print(1)\n",
        "if F <= V('0.5.12'):\n    a = 1\nif F >= V('0.5.13'):\n    b = 2\n",
    ],
)
def test_branches_that_leave_no_gap_say_nothing(text: str, tmp_path: Path) -> None:
    assert set(map(len, told(tmp_path, text).values())) == {0}


def test_a_branch_that_another_takes_away_is_a_warning(tmp_path: Path) -> None:
    text = "if F >= V('0.5.10'):\n    a = 1\nelif F >= V('0.5.13'):\n    a = 2\nelse:\n    a = 3\n"
    found = told(tmp_path, text)
    assert found["0.5.12"] == []
    [(detail, line, severity)] = found["0.5.13"]
    assert "those before it take all of its releases" in detail
    assert (line, severity) == (6, "warning")


def test_a_branch_for_no_release_is_told_apart(tmp_path: Path) -> None:
    old = told(tmp_path, "if F < V('0.3'):\n    print(1)\n")["0.5.12"]
    assert [(d, s) for d, _, s in old] == [("the branch is for no recorded release", "note")]
    both = told(tmp_path, "if F > V('0.5.16') and F < V('0.5.14'):\n    print(1)\n")["0.5.12"]
    assert [(d, s) for d, _, s in both] == [("no release takes the branch", "warning")]


def test_a_bound_one_release_off_is_told_with_where_it_belongs(tmp_path: Path) -> None:
    lost = "from sglang.srt.layers.attention.nsa_backend import NSAMetadata"
    late = told(tmp_path, f"if F < V('0.5.14'):\n    {lost}\n", "0.5.12.post1", "0.5.13")
    assert late["0.5.12.post1"] == []
    assert [d for d, _, _ in late["0.5.13"]] == [
        "the branch up to 0.5.13.post1 goes on too long: it is there up to 0.5.12.post1"
    ]
