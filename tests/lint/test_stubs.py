"""What ``new`` writes passes the project's own linters, whatever the name.

Run by ``tox -e lint``, which has ruff.
"""

import subprocess
from pathlib import Path

import pytest

from sglang_contracts.contract.stub import MAX_NAME, new_contract
from sglang_contracts.suite.stub import new_check
from sglang_contracts.verify.rules import stub

ROOT = Path(__file__).parents[2]


def lint(text: str, name: str) -> str:
    """What the linters say of a file of that name in the checkout; empty where it is clean."""
    said = ""
    for command in (["check"], ["format", "--check"]):
        done = subprocess.run(
            ["ruff", *command, "--stdin-filename", name, "-"],
            input=text,
            capture_output=True,
            text=True,
            cwd=ROOT,
        )
        if done.returncode:
            said += f"ruff {command[0]}: {done.stdout}{done.stderr}\n"
    return said


@pytest.mark.parametrize("name", ["my-thing", "class", "a", "x1-2-y", "w" * MAX_NAME])
def test_the_test_of_a_new_contract_is_clean(tmp_path, name):
    *_, written = new_contract(name, tmp_path)
    assert lint(written.read_text(), f"tests/contract/{written.name}") == ""


@pytest.mark.parametrize("name", ["b-c", "import-as", "z-z", "a" * 14 + "-" + "z" * 15])
def test_the_module_of_a_new_rule_and_the_registry_with_it_are_clean(tmp_path, name):
    rules = Path("sglang_contracts", "verify", "rules")
    (tmp_path / rules).mkdir(parents=True)
    (tmp_path / "tests" / "verify" / "rules").mkdir(parents=True)
    (tmp_path / rules / "registry.py").write_bytes((ROOT / rules / "registry.py").read_bytes())
    written = stub.new_rule(name, tmp_path)
    assert len(name) <= stub.MAX_NAME
    for path in (written[0], written[-1]):
        assert lint(path.read_text(), path.relative_to(tmp_path).as_posix()) == ""


@pytest.mark.parametrize("id", ["a.b", "sampler.ties-go-low", "f." + "w" * 48])
def test_a_new_check_and_its_mutant_are_clean(tmp_path, id):
    (tmp_path / "docs").mkdir()
    page = (ROOT / "docs" / "certification.md").read_text(encoding="utf-8")
    (tmp_path / "docs" / "certification.md").write_text(page, encoding="utf-8")
    module, mutant, _ = new_check(id, 3, tmp_path)
    for path in (module, mutant):
        assert lint(path.read_text(), path.relative_to(tmp_path).as_posix()) == ""


def test_what_is_not_clean_is_said():
    assert "F401" in lint("import os\n", "tests/contract/test_x.py")
    assert lint("x  =  1\n", "tests/contract/test_x.py").startswith("ruff format")
