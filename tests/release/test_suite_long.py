"""What takes long about the suite: other seeds, other orders, workers, snippets that fail alone."""

import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")

MUTANTS = Path(__file__).parents[1] / "mutants"
RELEASE = "0.5.21"
SUITE = ("-m", "pytest", "-q", "-p", "sglang_contracts.suite.pytest_plugin", "-W", "ignore")
SUITE += ("-p", "no:cacheprovider", "--import-mode=importlib", "--pyargs", "sglang_contracts.suite")
SUITE += ("--sglang-plugin", "sglang-kunlun-reference", "--sglang", f"fake:{RELEASE}")


def run(*arguments, cwd):
    return subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        cwd=cwd,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )


@pytest.mark.parametrize("seed", range(1, 21))
def test_no_seed_finds_a_failure(tmp_path, seed):
    done = run(*SUITE, "--sglang-seed", str(seed), cwd=tmp_path)
    assert done.returncode == 0, done.stdout[-3000:]


@pytest.mark.skipif(importlib.util.find_spec("xdist") is None, reason="pytest-xdist is not there")
def test_two_workers_find_none_either(tmp_path):
    done = run(*SUITE, "-n", "2", cwd=tmp_path)
    assert done.returncode == 0, done.stdout[-3000:]


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_no_order_finds_a_failure(tmp_path, seed):
    (tmp_path / "shuffling.py").write_text(
        "import random\n\n\ndef pytest_collection_modifyitems(items):\n"
        f"    random.Random({seed}).shuffle(items)\n"
        "    items.sort(key=lambda item: item.name == 'test_planned_checks_ran')\n"
    )
    done = run(*SUITE, "-p", "shuffling", cwd=tmp_path)
    assert done.returncode == 0, done.stdout[-3000:]


@pytest.fixture(scope="module")
def scores(tmp_path_factory):
    """Every mutant: its verdict, what its check said, the printed snippet."""
    code = (
        "import sys, json\n"
        "from pathlib import Path\n"
        "from sglang_contracts.suite.mutants import mutant_files, run_mutants\n"
        "from sglang_contracts.suite.session import open_session\n"
        f"session = open_session('sglang-kunlun-reference', 'fake:{RELEASE}')\n"
        "scores = run_mutants(mutant_files(Path(sys.argv[1])), session)\n"
        "print(json.dumps([[s.mutant.path.stem, s.mutant.killed_by, s.detail,"
        " s.result.reproduction if s.result else ''] for s in scores]))\n"
    )
    done = run("-c", code, str(MUTANTS), cwd=tmp_path_factory.mktemp("scores"))
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.splitlines()[-1])


def pattern(detail):
    """The message with its measured numbers left open: another example may measure others."""
    return re.sub(r"\\?\d+(\\?\.\d+)?(e[+-]?\d+)?", r"\\S+", re.escape(detail))


@pytest.mark.parametrize("part", range(5))
def test_each_fifth_snippet_fails_alone_for_the_same_reason(scores, tmp_path, part):
    for name, killed_by, detail, reproduction in scores[part::25]:
        alone = run("-c", reproduction, cwd=tmp_path)
        assert alone.returncode == 1, (name, alone.stdout, alone.stderr[-1500:])
        assert f"Violation: {killed_by}: " in alone.stderr, name
        assert re.search(pattern(detail), alone.stderr), (name, detail, alone.stderr[-1500:])
