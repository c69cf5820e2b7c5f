"""A kept answer is one that a cold run would give, to the plugin and the Python that ask."""

from __future__ import annotations

import json
import random
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from sglang_contracts.cli import main

PLUGIN = "def f(forward_batch):\n    return forward_batch.token_to_kv_pool\n"


@pytest.fixture
def cache(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("SGLANG_CONTRACTS_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def plugin(tmp_path, cache, monkeypatch) -> Path:
    root = tmp_path / "plugin"
    root.mkdir()
    (root / "pyproject.toml").write_text("[project]\nname = 'first'\nversion = '1'\n")
    (root / "plugin.py").write_text(PLUGIN)
    monkeypatch.chdir(root)
    return root


@pytest.fixture
def report(capsys):
    def command(*arguments: str) -> dict:
        main(["check", ".", "--release", "0.5.16", "--format", "json", *arguments])
        return json.loads(capsys.readouterr().out)

    return command


def test_equal_files_of_another_plugin_are_told_by_its_own_name(plugin, report, monkeypatch):
    assert report()["plugin"]["name"] == "first"
    other = plugin.parent / "other"
    shutil.copytree(plugin, other)
    (other / "pyproject.toml").write_text("[project]\nname = 'second'\nversion = '2'\n")
    monkeypatch.chdir(other)
    found = report()["plugin"]
    assert (found["name"], found["version"]) == ("second", "2")


def test_another_python_works_it_out_again(plugin, report, monkeypatch):
    from sglang_contracts import code_digest

    code_digest.code_digest.cache_clear()
    (plugin / "new.py").write_text("x = f'{a['b']}'\n")  # valid from Python 3.12 on
    first = report()
    real = sys.version_info
    # What matters is that another version's digest is another: pretend, with a fresh digest.
    code_digest.code_digest.cache_clear()
    monkeypatch.setattr(code_digest.sys, "version_info", (*real[:2], real[2] + 1))
    made = []
    monkeypatch.setattr(
        "sglang_contracts.verify.commands.check.save", lambda key, result: made.append(result)
    )
    assert report() == first
    assert len(made) == 1
    monkeypatch.undo()
    code_digest.code_digest.cache_clear()


@pytest.mark.parametrize("error", [RecursionError, MemoryError])
def test_a_failure_for_want_of_memory_or_stack_is_not_kept(
    error, plugin, report, cache, monkeypatch
):
    from sglang_contracts.plugin import extract

    def failing(*_):
        raise error

    (plugin / "plugin.py").write_text("import sglang\n" + PLUGIN)
    with monkeypatch.context() as patched:
        patched.setattr(extract, "scan_python", failing)
        poor = report()
    assert poor["releases"][0]["verdict"] == "unknown"
    rich = report()
    assert rich["releases"][0]["verdict"] == "broken"
    assert not any("skipped" in note["text"] for note in rich["notes"])


def entries(cache: Path, kind: str) -> list[Path]:
    return sorted((cache / kind).glob("*.msgpack"))


@pytest.mark.parametrize("kind", ["plugins", "results", "contracts"])
def test_flipped_bits_of_what_is_kept_change_no_report(kind, plugin, report, cache):
    cold = report()
    [entry] = entries(cache, kind)
    whole = entry.read_bytes()
    dice = random.Random(kind)
    for _ in range(6):
        damaged = bytearray(whole)
        damaged[dice.randrange(len(whole))] ^= 1 << dice.randrange(8)
        if kind == "plugins":  # else nobody asks for it
            shutil.rmtree(cache / "results")
        entry.write_bytes(damaged)
        assert report() == cold


@pytest.mark.parametrize("megabytes", [90, 105, 112])
def test_little_memory_gives_the_full_answer_or_none(megabytes, plugin, cache, report):
    """And what such a run keeps gives nobody another one."""
    (plugin / "more.py").write_text(
        "".join(f"def f{n}(forward_batch: 'x'):\n    return [{n}, 'a']\n" for n in range(3000))
    )

    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (megabytes * 2**20,) * 2)

    command = [sys.executable, "-m", "sglang_contracts.cli", "check", ".", "-r", "0.5.16"]
    poor = subprocess.run(
        [*command, "--format", "json"],
        cwd=plugin,
        preexec_fn=limit,
        capture_output=True,
        text=True,
        check=False,
    )
    after = report()
    shutil.rmtree(cache, ignore_errors=True)
    assert after == report()
    assert "corrupt" not in poor.stderr  # nothing is wrong with any file
    if poor.returncode in (0, 1) and poor.stdout:
        found = json.loads(poor.stdout)
        assert found == after or found["releases"][0]["verdict"] == "unknown"
