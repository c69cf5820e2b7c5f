"""How mutants are scored; that all of them are killed is ``tox -e mutants``."""

import pytest

from sglang_contracts.errors import ContractsError
from sglang_contracts.suite.mutants import Changed, Score, mutant_files, table
from sglang_contracts.suite.session import Mutant, load_mutant

SAMPLE = (
    "prefix_ignored",
    "double_free_accepted",
    "activate_raises",
    "one_item_a_layer",
    "replay_keeps_the_metadata",
    "temperature_zero_ignored",
)


def test_some_of_each_family_are_killed_and_fail_alone(fresh, mutants, tmp_path):
    pytest.importorskip("torch")
    for name in SAMPLE:
        (tmp_path / f"{name}.py").write_text((mutants / f"{name}.py").read_text())
    code = (
        "import sys, json\n"
        "from pathlib import Path\n"
        "from sglang_contracts.suite.mutants import mutant_files, run_mutants\n"
        "from sglang_contracts.suite.session import open_session\n"
        "session = open_session('sglang-kunlun-reference', 'fake:0.5.16')\n"
        "scores = run_mutants(mutant_files(Path(sys.argv[1])), session, jobs=2)\n"
        "print(json.dumps([[s.mutant.path.stem, s.verdict, s.detail, s.result.reproduction]"
        " for s in scores]))\n"
    )
    import json

    done = fresh("-c", code, str(tmp_path))
    assert done.returncode == 0, done.stderr[-2000:]
    scores = {name: rest for name, *rest in json.loads(done.stdout.splitlines()[-1])}
    assert {name: rest[0] for name, rest in scores.items()} == dict.fromkeys(SAMPLE, "killed")
    _, detail, reproduction = scores["prefix_ignored"]
    alone = fresh("-c", reproduction)
    assert alone.returncode == 1
    assert "Violation: attention-backend.prefix-is-attended" in alone.stderr
    assert detail in alone.stderr


def test_a_mutant_that_crashes_elsewhere_is_not_killed(fresh, tmp_path):
    pytest.importorskip("torch")
    (tmp_path / "crash.py").write_text(
        "import dataclasses\n\nNAME = 'It raises'\nKILLED_BY = 'sampler.top-p-is-kept'\n\n\n"
        "def make(reference):\n"
        "    def mutant(logits, info):\n"
        "        raise KeyError('temperature')\n\n"
        "    return dataclasses.replace(reference, sampler=mutant)\n"
    )
    done = fresh(
        *("-m", "sglang_contracts.cli", "certify", "sglang-kunlun-reference"),
        *("--sglang", "fake:0.5.16", "--mutants", str(tmp_path)),
    )
    assert done.returncode == 1
    assert "crashed" in done.stdout
    assert "0 of 1 mutants killed" in done.stdout


def test_a_mutant_that_ends_its_process_is_no_success(fresh, tmp_path):
    pytest.importorskip("torch")
    for name in ("first", "second"):
        (tmp_path / f"{name}.py").write_text(
            "import os\n\nNAME = 'It exits'\nKILLED_BY = 'sampler.top-p-is-kept'\n\n\n"
            "def make(reference):\n    os._exit(0)\n"
        )
    done = fresh(
        *("-m", "sglang_contracts.cli", "certify", "sglang-kunlun-reference"),
        *("--sglang", "fake:0.5.16", "--mutants", str(tmp_path), "--jobs", "2"),
    )
    assert done.returncode == 2
    assert "a mutant has ended the process that it ran in" in done.stderr


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("NAME = 'x'\n", "has no KILLED_BY, make"),
        ("raise ValueError('no')\n", "cannot be imported: no"),
    ],
)
def test_what_is_no_mutant_is_refused(tmp_path, text, words):
    path = tmp_path / "broken.py"
    path.write_text(text)
    with pytest.raises(ContractsError, match=words):
        load_mutant(path)


def test_a_folder_without_mutants_is_refused(tmp_path):
    (tmp_path / "_helper.py").touch()
    with pytest.raises(ContractsError, match="no mutants"):
        mutant_files(tmp_path)
    with pytest.raises(ContractsError, match="no folder"):
        mutant_files(tmp_path / "nowhere")


def test_the_table_counts_what_was_run(tmp_path):
    mutant = Mutant("It is wrong", "a.b", lambda reference: reference, tmp_path / "wrong.py")
    scores = [Score(mutant, verdict, "why") for verdict in ("killed", "survived", "skipped")]
    text = table(scores)
    assert "survived  wrong  a.b  (why)" in text
    assert text.endswith(
        "1 of 2 mutants killed, each by the check it names, 1 make no sense in this release"
    )


def test_a_changed_object_has_the_rest_of_its_own():
    changed = Changed([3, 4], extra=5)
    assert changed.extra == 5
    assert changed.index(4) == 1
