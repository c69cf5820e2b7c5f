"""Children of ours import nothing from the folder that they, or the user, stand in."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

import sglang_contracts
from sglang_contracts import subprocesses

ROOT = Path(sglang_contracts.__file__).parent
STANDALONE = ROOT / "live" / "environments.py"
"""Runs by its path before anything is installed: it says ``-I`` itself."""


def uses_of_the_interpreter(path: Path) -> list[ast.Attribute]:
    return [
        node
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and ast.unparse(node) == "sys.executable"
    ]


def test_python_is_started_by_one_module_alone():
    starting = {path for path in ROOT.rglob("*.py") if uses_of_the_interpreter(path)}
    assert starting == {ROOT / "subprocesses.py", STANDALONE}


def test_what_runs_before_the_installation_isolates_its_children():
    lists = [
        [ast.unparse(item) for item in node.elts]
        for node in ast.walk(ast.parse(STANDALONE.read_text(encoding="utf-8")))
        if isinstance(node, ast.List) and node.elts
    ]
    starts = [each for each in lists if each[0] in ("sys.executable", "python", "str(python)")]
    assert len(starts) == 4
    assert all(each[1] == "'-I'" for each in starts)


def test_workers_are_started_by_one_module_alone():
    """A pool without a context spawns on some systems, with the current folder on the path."""
    bare = []
    for path in ROOT.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("PoolExecutor"):
                words = ast.unparse(node)
                if "ThreadPool" not in words and "fork" not in words and "forking" not in words:
                    bare.append(f"{path.relative_to(ROOT)}: {words}")
    assert bare == ["subprocesses.py: ProcessPoolExecutor(jobs, mp_context=get_context('spawn'))"]


@pytest.mark.skipif(not subprocesses.SAFE_PATH, reason="Python 3.10 has no -P: a folder of our own")
@pytest.mark.parametrize("start", [subprocesses.python, subprocesses.closed_python])
def test_a_child_does_not_import_from_its_folder(start, tmp_path):
    (tmp_path / "wave.py").write_text("raise SystemExit(7)")
    command = start("-c", "import wave")
    assert subprocess.run(command, cwd=tmp_path, check=False).returncode == 0


def test_a_closed_child_does_not_see_the_callers_module_path(tmp_path):
    (tmp_path / "planted.py").write_text("")
    command = subprocesses.closed_python("-c", "import planted")
    variables = os.environ | {"PYTHONPATH": str(tmp_path)}
    with subprocesses.neutral_folder() as folder:
        done = subprocess.run(
            command, cwd=folder, env=variables, stderr=subprocess.DEVNULL, check=False
        )
        assert list(folder.iterdir()) == []
    assert done.returncode == 1
    assert not folder.exists()


def test_relative_paths_of_pip_hold_in_another_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "wheels").mkdir()
    (tmp_path / "pip.conf").write_text("")
    found = subprocesses.with_absolute_paths(
        {
            "PIP_FIND_LINKS": "wheels https://example.org/more",
            "PIP_CONFIG_FILE": "pip.conf",
            "PIP_CERT": "/there/is/none.pem",
            "HOME": "wheels",
        }
    )
    assert found == {
        "PIP_FIND_LINKS": f"{tmp_path}/wheels https://example.org/more",
        "PIP_CONFIG_FILE": f"{tmp_path}/pip.conf",
        "PIP_CERT": "/there/is/none.pem",
        "HOME": "wheels",
    }


@pytest.mark.parametrize("system", ["linux", "darwin"])
def test_a_pool_works_and_leaves_the_environment_as_it_was(system, monkeypatch):
    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.delenv("PYTHONSAFEPATH", raising=False)
    with subprocesses.pool(1) as pool:
        expected = "" if system == "linux" else "1"
        assert os.environ.get("PYTHONSAFEPATH", "") == expected
        assert list(pool.map(abs, [-1, 2])) == [1, 2]
    assert "PYTHONSAFEPATH" not in os.environ
