"""Long and odd input is answered without a search that grows faster than it does."""

from __future__ import annotations

import pytest

from sglang_contracts.cli import main
from sglang_contracts.plugin.reading.ignore_comments import read_ignores
from sglang_contracts.surface import load_catalog
from sglang_contracts.verify.findings.finding import Location
from sglang_contracts.verify.rules.launch_flags import Given
from sglang_contracts.verify.rules.launch_word_gone import Launches


@pytest.mark.parametrize(
    "comment",
    [
        "# sglang-contracts: ignore[" + " " * 200_000 + "x",
        "# sglang-contracts:" + " " * 200_000 + "ignore" + " " * 200_000 + "[a",
        "# sglang-contracts: ignore[" + "a, " * 100_000,
        "#" * 2000 + " sglang-contracts: ignore[" + "- " * 1000,
    ],
)
def test_a_comment_of_blanks_is_looked_at_once(comment):
    """Where each blank could begin a match, this would take hours."""
    [found] = read_ignores("a.py", f"x = 1  {comment}\n")
    assert found.rules == ()


@pytest.mark.parametrize(
    ("comment", "rules", "reason"),
    [
        ("ignore[ field-removed ,symbol-moved ]  why", ("field-removed", "symbol-moved"), "why"),
        ("ignore  [*]", ("*",), ""),
        ("ignore[ ]", (), ""),
        ("ignore[]", (), ""),
    ],
)
def test_a_comment_is_read_as_before(comment, rules, reason):
    [found] = read_ignores("a.py", f"x = 1  # sglang-contracts: {comment}\n")
    assert (found.rules, found.reason) == (rules, reason)


def test_flags_of_a_release_are_put_together_once_for_all_words(monkeypatch):
    catalog = load_catalog()
    asked = []
    real = type(catalog.surface(catalog.releases[-1])).flags_of
    monkeypatch.setattr(
        "sglang_contracts.surface.surface.Surface.flags_of",
        lambda surface, program: asked.append(surface.release) or real(surface, program),
    )
    launches = Launches(catalog, None)
    for number in range(200):
        given = Given(f"--unknown-{number}", "1", Location("run.sh", number + 1))
        launches.states(given)
    assert sorted(asked) == sorted(catalog.releases)


@pytest.mark.parametrize("command", [("check", "."), ("uses", ".")])
def test_a_number_of_thousands_of_digits_is_no_defect(command, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("SGLANG_CONTRACTS_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.py").write_text("import sglang\n")
    (tmp_path / "pyproject.toml").write_text(
        f"[project]\nname = 'a'\n[tool.sglang-contracts]\nx = {'9' * 5001}\n"
    )
    assert main(list(command)) == 2
    said = capsys.readouterr().err
    assert "pyproject.toml: not valid TOML" in said
    assert "defect" not in said
