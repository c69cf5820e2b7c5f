"""Spoiled plugins, packs and cache entries: a clear answer or a clear refusal, and no other end.

``SGLANG_CONTRACTS_FUZZ_SECONDS`` says for how long (600), ``SGLANG_CONTRACTS_FUZZ_SEED`` with which
seed to begin; each case has a seed of its own, which a failure prints: run that one alone with
``SGLANG_CONTRACTS_FUZZ_SEED=<seed> SGLANG_CONTRACTS_FUZZ_SECONDS=0``.
"""

from __future__ import annotations

import json
import os
import resource
import runpy
import shutil
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator
from pathlib import Path
from random import Random, SystemRandom

import pytest

from sglang_contracts.cli import main
from sglang_contracts.contract import load_contracts
from sglang_contracts.surface import load_catalog

ROOT = Path(__file__).parents[2]
_MUTATIONS = runpy.run_path(str(Path(__file__).with_name("mutations.py")))
mutated, octets = _MUTATIONS["mutated"], _MUTATIONS["octets"]
CORPUS = [
    *(ROOT / "kunlun_backend" / "src").rglob("*.py"),
    *(ROOT / "examples").rglob("*.py"),
    ROOT / "tests" / "verify" / "kunlun_like.py",
    ROOT / "tests" / "verify" / "imaginary.py",
    *(ROOT / "docs").glob("*.md"),
    ROOT / "examples" / "before" / "pyproject.toml",
]
CPU = 60
"""Seconds of CPU that one case may take: forty times what the largest unspoiled one does."""
MEMORY = 2**30
"""Bytes that one case may take beside what is loaded before it."""

FORMATS = ("text", "json", "sarif", "junit", "github", "markdown", "html")


def seconds() -> float:
    return float(os.environ.get("SGLANG_CONTRACTS_FUZZ_SECONDS", "600"))


def seeds() -> Iterator[int]:
    """Seeds until the time is over; at least one."""
    end = time.monotonic() + seconds()
    seed = int(os.environ.get("SGLANG_CONTRACTS_FUZZ_SEED", SystemRandom().randrange(10**9)))
    print(f"\nfirst seed: {seed}")
    while True:
        yield seed
        seed += 1
        if time.monotonic() > end:
            print(f"last seed: {seed - 1}")
            return


class Ended:
    """How a forked child came to its end."""

    def __init__(self, status: int, folder: Path) -> None:
        self.signal = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
        self.code = os.WEXITSTATUS(status) if os.WIFEXITED(status) else -1
        self.out = (folder / "out").read_text(encoding="utf-8", errors="replace")
        self.err = (folder / "err").read_text(encoding="utf-8", errors="replace")


def run(folder: Path, command: list[str]) -> Ended:
    """A command in a child with little time and memory, its output in ``folder``."""
    child = os.fork()
    if child == 0:
        try:
            for number, name in ((1, "out"), (2, "err")):
                os.dup2(os.open(folder / name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
            used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
            resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY,) * 2)
            resource.setrlimit(resource.RLIMIT_CPU, (CPU, CPU))
            os.environ["SGLANG_CONTRACTS_CACHE"] = str(folder / "cache")
            sys.stdout, sys.stderr = (os.fdopen(n, "w", encoding="utf-8") for n in (1, 2))
            code = main(command)
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(70)
    return Ended(os.waitpid(child, 0)[1], folder)


@pytest.fixture(scope="module")
def warm() -> None:
    """What every child needs is loaded before it is forked."""
    load_contracts()
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "a.py").write_text("import sglang\n")
        main(["check", folder, "--release", load_catalog().releases[-1], "--quiet"])


def is_clear(ended: Ended, case: str) -> None:
    """An answer or a refusal; neither a crash, nor a defect, nor too much time or memory."""
    said = f"{case}: signal {ended.signal}, code {ended.code}\n{ended.err[-2000:]}"
    assert ended.signal == 0, said
    assert ended.code in (0, 1, 2), said
    assert "Traceback" not in ended.err, said
    assert "defect of sglang-contracts" not in ended.err, said
    assert "out of memory" not in ended.err, said
    assert "please report it" not in ended.out + ended.err, said


def kept(case: str, folder: Path) -> None:
    """Keep what a failing case was made of where the next run of tests does not remove it."""
    place = Path(tempfile.gettempdir()) / f"fuzz-{case}"
    shutil.copytree(folder, place, dirs_exist_ok=True)
    print(f"kept in {place}")


def test_a_spoiled_plugin_has_an_answer_and_the_same_from_the_cache(warm, tmp_path, monkeypatch):
    monkeypatch.setenv("SGLANG_CONTRACTS_CACHE", str(tmp_path / "warm"))
    cases = 0
    for seed in seeds():
        dice = Random(seed)
        folder = tmp_path / str(seed)
        root = folder / "plugin"
        root.mkdir(parents=True)
        for number in range(dice.randint(1, 4)):
            source = dice.choice(CORPUS)
            name = f"m{number}{source.suffix}"
            (root / name).write_bytes(mutated(source.read_bytes(), dice))
        release = dice.choice(load_catalog().releases)
        command = ["check", str(root), "--release", release, "--verbose", "--format"]
        form = dice.choice(FORMATS)
        try:
            cold = run(folder, [*command, form])
            is_clear(cold, f"seed {seed}")
            again = run(folder, [*command, form])
            assert (again.code, again.out) == (cold.code, cold.out), f"seed {seed}: warm"
            if form == "json" and cold.code < 2:
                json.loads(cold.out)
        except AssertionError:
            kept(str(seed), folder)
            raise
        shutil.rmtree(folder)
        cases += 1
    print(f"{cases} plugins")


def test_a_spoiled_cache_changes_no_answer(warm, tmp_path):
    root = tmp_path / "plugin"
    shutil.copytree(ROOT / "examples" / "before", root)
    command = ["check", str(root), "--release", "0.5.16", "--format", "json"]
    first = run(tmp_path, command)
    is_clear(first, "unspoiled")
    cases = 0
    for seed in seeds():
        dice = Random(seed)
        entries = sorted((tmp_path / "cache").rglob("*.msgpack"))
        for entry in dice.sample(entries, dice.randint(1, len(entries))):
            entry.write_bytes(octets(entry.read_bytes(), dice))
        again = run(tmp_path, command)
        assert (again.code, again.out) == (first.code, first.out), f"seed {seed}"
        cases += 1
        if cases >= 300:
            break
    print(f"{cases} spoiled caches")
