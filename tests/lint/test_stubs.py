"""What ``new`` writes passes the project's own linters, whatever the name.

Run by ``tox -e lint``, which has ruff.
"""

import subprocess
from pathlib import Path

import pytest

from sglang_contracts.contract.stub import MAX_NAME, new_contract

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


def test_what_is_not_clean_is_said():
    assert "F401" in lint("import os\n", "tests/contract/test_x.py")
    assert lint("x  =  1\n", "tests/contract/test_x.py").startswith("ruff format")
