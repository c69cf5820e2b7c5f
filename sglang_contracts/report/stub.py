"""``new rule NAME``: the page of a rule and a test that fails until rule and page are there."""

from __future__ import annotations

import re
from pathlib import Path

from sglang_contracts.errors import ContractsError
from sglang_contracts.report.rules import read_pages

_NAME = re.compile(r"[a-z]+(-[a-z]+)*")

_PAGE = """
[{name}]
title = "TODO: what has happened, in one line"
why = "TODO: what the plugin's user sees, and where"
broken = "TODO: code that the rule reports"
fixed = "TODO: the same code with the fix"
fix = "TODO: what to do"
"""

_TEST = '''\
"""The rule {name}: it must fire on what it is about, and be silent on what only looks like it."""

from sglang_contracts.report.rules import rule_page
from sglang_contracts.report.words import WORDINGS
from sglang_contracts.surface import load_catalog
from sglang_contracts.verify import check_plugin

RELEASE = "0.5.16"

FIRES = """
TODO = "a plugin that the rule reports in RELEASE"
"""

SILENT = """
TODO = "the same plugin, mended: nothing is reported"
"""


def rules_of(tmp_path, source):
    (tmp_path / "plugin.py").write_text(source)
    report = check_plugin(tmp_path, load_catalog(), [RELEASE])
    return [finding.rule for finding in report.releases[0].findings]


def test_{identifier}_fires(tmp_path):
    assert "{name}" in rules_of(tmp_path, FIRES)


def test_{identifier}_is_silent(tmp_path):
    assert "{name}" not in rules_of(tmp_path, SILENT)


def test_{identifier}_is_worded_and_explained():
    assert "{name}" in WORDINGS
    page = rule_page("{name}")
    assert page is not None
    assert not [key for key, text in page.items() if "TODO" in str(text)]
'''


def new_rule(name: str, checkout: Path) -> tuple[Path, Path]:
    """Append the page of a rule, and write a test that fails until it is filled in.

    Args:
        name: The rule: lower-case words with hyphens.
        checkout: The project's top folder.

    Returns:
        The file of pages, and the test's.

    Raises:
        ContractsError: No such name, it is there already, or this is no checkout.
    """
    from sglang_contracts.files import write_atomically

    if not _NAME.fullmatch(name):
        raise ContractsError(
            f"'{name}' is no name for a rule", "lower-case words with hyphens: thing-removed"
        )
    pages = checkout / "sglang_contracts" / "report" / "rules.toml"
    tests = checkout / "tests" / "verify"
    if not pages.is_file() or not tests.is_dir():
        raise ContractsError(
            f"{checkout} is no checkout of sglang-contracts", "rules are part of the tool's source"
        )
    test = tests / f"test_rule_{name.replace('-', '_')}.py"
    text = pages.read_text(encoding="utf-8")
    if name in read_pages(text) or test.exists():
        raise ContractsError(f"there is a rule '{name}' already", "choose another name")
    write_atomically(pages, (text.rstrip("\n") + "\n" + _PAGE.format(name=name)).encode())
    identifier = name.replace("-", "_")
    write_atomically(test, _TEST.format(name=name, identifier=identifier).encode())
    return pages, test
