"""Every reason for silence has a page and two fixtures, and each of them tells when it is changed.

``silences/ID`` holds two releases of an imaginary sglang (``old``, ``new``, ``contracts``) and two
plugins: of the one in ``silent`` nothing (or less) is said for that reason, the one in ``fires`` is
its near twin of which all is said.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from sglang_contracts.contract import load_contract
from sglang_contracts.report.rules import silence_pages
from sglang_contracts.surface import Catalog
from sglang_contracts.verify import check_plugin
from sglang_contracts.verify.findings.finding import Finding, Severity
from sglang_contracts.verify.silences import reasons
from sglang_contracts.verify.silences.reasons import SILENCES
from sglang_contracts.verify.silences.silence import Effect, Silence

FOLDER = Path(__file__).with_name("silences")
EACH = pytest.mark.parametrize("reason", SILENCES.values(), ids=list(SILENCES))
Told = tuple[list[Finding], dict[str, int]]
"""Findings in both releases, and how many places each reason keeps quiet or makes less grave."""
Check = Callable[[Silence, str], Told]


def release(folder: Path, version: str) -> dict[str, str]:
    """Path in the package → text: what a fixture brings of one release."""
    modules = {"__init__.py": f"__version__ = '{version}'\n"}
    for path in sorted(folder.rglob("*.py")):
        modules[path.relative_to(folder).as_posix()] = path.read_text(encoding="utf-8")
    return modules


@pytest.fixture
def check(recorded: Callable[[Mapping[str, str], Mapping[str, str]], Catalog]) -> Check:
    """``check(reason, "silent" or "fires")`` → what is told of that plugin."""

    def told(reason: Silence, kind: str) -> Told:
        folder = FOLDER / reason.id
        catalog = recorded(release(folder / "old", "0.5.1"), release(folder / "new", "0.5.2"))
        contracts = [load_contract(path) for path in sorted(folder.glob("contracts/*.toml"))]
        report = check_plugin(folder / kind, catalog, catalog.releases, contracts=contracts)
        counted: dict[str, int] = {}
        for entry in report.releases:
            for name, number in entry.silences.items():
                counted[name] = counted.get(name, 0) + number
        return [each for entry in report.releases for each in entry.findings], counted

    return told


def forced(monkeypatch: pytest.MonkeyPatch, reason: Silence, answer: bool) -> None:
    """Have a reason hold always, or never."""
    monkeypatch.setattr(
        Silence, "holds", lambda self, given: answer if self.id == reason.id else given
    )


def grave(findings: list[Finding], reason: Silence) -> set[tuple[str, Severity]]:
    """Errors and warnings that the reason has not made less grave."""
    return {
        (each.symbol, each.severity)
        for each in findings
        if each.severity is not Severity.NOTE and each.softened != reason.id
    }


def test_every_reason_has_a_page_and_two_fixtures() -> None:
    assert set(silence_pages()) == set(SILENCES)
    assert {path.name for path in FOLDER.iterdir()} == set(SILENCES)
    for page in silence_pages().values():
        assert set(page) == {"title", "why", "quiet", "told"}
    for name in SILENCES:
        assert list((FOLDER / name / "silent").rglob("*.py"))
        assert list((FOLDER / name / "fires").rglob("*.py"))


def test_reasons_are_made_in_their_table_alone() -> None:
    root = Path(reasons.__file__).parents[2]
    made = [
        path.name
        for path in root.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("Silence")
    ]
    assert set(made) == {"reasons.py"}
    assert len(made) == len(SILENCES)


def test_every_reason_is_asked_somewhere() -> None:
    root = Path(reasons.__file__).parents[1]
    asked = "".join(path.read_text(encoding="utf-8") for path in root.rglob("*.py"))
    constants = {name for name, each in vars(reasons).items() if isinstance(each, Silence)}
    assert {name for name in constants if f"{name}.holds(" not in asked} == set()


@EACH
def test_a_reason_keeps_its_fixture_quiet(reason: Silence, check: Check) -> None:
    findings, silences = check(reason, "silent")
    assert silences[reason.id] > 0
    assert grave(findings, reason) == set()


@EACH
def test_a_reason_leaves_the_near_twin_alone(reason: Silence, check: Check) -> None:
    findings, silences = check(reason, "fires")
    assert grave(findings, reason)
    assert reason.id not in silences


@EACH
def test_without_the_reason_its_fixture_is_told(
    reason: Silence, check: Check, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, _ = check(reason, "silent")
    forced(monkeypatch, reason, False)
    findings, silences = check(reason, "silent")
    assert reason.id not in silences
    told = grave(findings, reason)
    assert told
    if reason.effect is Effect.SOFTENS:
        was = {each.symbol: each.severity.rank for each in before if each.softened == reason.id}
        assert any(severity.rank > was.get(symbol, 2) for symbol, severity in told)


@EACH
def test_a_reason_that_always_holds_keeps_the_near_twin_quiet(
    reason: Silence, check: Check, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = grave(check(reason, "fires")[0], reason)
    forced(monkeypatch, reason, True)
    findings, silences = check(reason, "fires")
    assert silences[reason.id] > 0
    assert before - grave(findings, reason)
