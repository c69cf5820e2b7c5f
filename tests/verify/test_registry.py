"""Causes and rules as records: none is forgotten, and what names one names it rightly."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

from sglang_contracts.contract import load_contracts
from sglang_contracts.verify.rules import registry
from sglang_contracts.verify.rules.clause_rules import CLAUSE_RULES
from sglang_contracts.verify.rules.rule import Rule

FOLDER = Path(registry.__file__).parent
EVERY = [*registry.RULES.values(), *CLAUSE_RULES.values()]


def constants(kind: str) -> dict[str, set[str]]:
    """Module → names that it defines at its top as calls of a kind of record."""
    found: dict[str, set[str]] = {}
    for path in FOLDER.glob("*.py"):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
                called = node.value.func
                if isinstance(called, ast.Name) and called.id == kind:
                    found.setdefault(path.stem, set()).update(
                        ast.unparse(each) for each in node.targets
                    )
    return found


def test_each_module_with_a_cause_is_in_the_registry_once():
    assert sorted(constants("Cause")) == sorted(registry.ORDER)


def test_a_module_in_the_registry_carries_a_cause(monkeypatch):
    monkeypatch.setattr(registry, "CAUSE", "text", raising=False)
    with pytest.raises(TypeError, match=r"registry\.CAUSE"):
        registry.cause_of("registry")
    with pytest.raises(AttributeError):
        registry.cause_of("rule")


def test_each_rule_that_is_written_down_is_registered_once():
    kinds = ("Rule", "clause_rule")
    written = [name for kind in kinds for names in constants(kind).values() for name in names]
    assert sorted(written) == sorted(rule.id.upper().replace("-", "_") for rule in EVERY)


def test_each_way_of_failing_that_a_detection_names_has_one_failure():
    named = {
        text.value
        for path in FOLDER.glob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call)
        and ast.unparse(node.func) == "Outcome"
        and len(node.args) > 1
        and ast.unparse(node.args[0]) == "Status.BROKEN"
        for text in ast.walk(node.args[1])
        if isinstance(text, ast.Constant)
    }
    failures = [each.what for cause in registry.CAUSES for each in cause.failures]
    assert len(failures) == len(set(failures))
    assert named <= set(failures)
    assert set(failures) - named == {"hook"}  # made of another outcome


@pytest.mark.parametrize("rule", EVERY, ids=lambda rule: rule.id)
def test_rules_merge_with_rules(rule: Rule):
    assert rule.merges_with <= set(registry.RULES)
    assert rule.id not in rule.merges_with


def test_contracts_report_under_rules():
    named = {clause.rule for each in load_contracts() for clause in each.clauses if clause.rule}
    assert named <= set(registry.RULES)


def test_a_page_file_has_the_pages_of_its_rules_and_no_other():
    from sglang_contracts.report.rules import pages

    files = set(FOLDER.glob("*.toml"))
    assert {path.name for path in files} == {rule.page for rule in EVERY if rule.page}
    for path in files:
        assert set(pages(path.name)) == {rule.id for rule in EVERY if rule.page == path.name}
        assert path.with_suffix(".py").exists()
    assert all(rule.page for rule in registry.RULES.values())


def test_nothing_is_left_to_be_filled_in():
    fixtures = Path(__file__).with_name("rules")
    files = [*FOLDER.glob("*.py"), *FOLDER.glob("*.toml"), *fixtures.rglob("*.py")]
    left = [path.name for path in files if path.stem != "stub" and "TODO" in path.read_text()]
    assert left == []


def texts(function: ast.AST) -> list[str]:
    """Texts in a function or class, those left out that document it."""
    documents = {id(node.value) for node in ast.walk(function) if isinstance(node, ast.Expr)}
    constants = (node for node in ast.walk(function) if isinstance(node, ast.Constant))
    return [
        node.value
        for node in constants
        if isinstance(node.value, str) and id(node) not in documents
    ]


def test_sentences_stand_with_the_records_and_in_no_function():
    found = [
        f"{path.stem}: {text}"
        for path in FOLDER.glob("*.py")
        if path.stem != "stub"
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
        for text in texts(node)
        if re.search(r"[a-z] ?\b.* [a-z]|^ [a-z]|[a-z] $", text)
    ]
    assert found == []


def test_explain_and_reports_on_clauses_need_no_engine():
    code = (
        "import sys\n"
        "from sglang_contracts.report import words\n"
        "from sglang_contracts.report.rules import rule_pages\n"
        "from sglang_contracts.verify.findings.finding import Finding, Severity\n"
        "assert rule_pages()['field-removed']\n"
        "print(words.what(Finding('removed', Severity.NOTE, 'sglang.x:y')))\n"
        "assert 'sglang_contracts.verify.values.evaluator' not in sys.modules\n"
    )
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True)
    assert done.stdout == "y was removed\n", done.stderr
