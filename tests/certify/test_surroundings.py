"""What surrounds a run has no part in its verdict, and nothing of a run outlives its parent."""

import contextlib
import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

pytest.importorskip("torch")

ATTENTION = "class AcmeAttention(AttentionBackend):"
LEAVES_CHECKS_OUT = """
def pytest_collection_modifyitems(items):
    items[:] = [item for item in items if "hooks" in item.name or "planned" in item.name]
"""
A_RUN = ("acme-sglang", "--sglang", "fake:0.5.16", "--profile", "quick", "-q")


@pytest.fixture
def attention(site):
    """The plugin's module, restored afterwards."""
    path = site / "acme_sglang" / "attention.py"
    kept = path.read_text()
    yield path
    path.write_text(kept)


def test_settings_and_conftest_of_folders_above_take_no_part(certify, tmp_path, attention):
    attention.write_text(attention.read_text().replace(ATTENTION, "raise ImportError('no')"))
    (tmp_path / "conftest.py").write_text(LEAVES_CHECKS_OUT)
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = --no-such-option\n")
    done = certify(
        *A_RUN,
        *("--level", "1", "--out", tmp_path / "out"),
        TMPDIR=str(tmp_path),
        PYTEST_ADDOPTS="--no-such-option",
        PYTEST_PLUGINS="no_such_plugin",
    )
    assert done.returncode == 1, done.stdout + done.stderr
    found = json.loads((tmp_path / "out" / "certificate.json").read_text())
    assert len(found["checks"]) == len(found["planned"])


def test_a_plan_that_a_run_has_shortened_is_not_passed(certify, tmp_path, attention):
    shortens = (
        "import sglang_contracts.suite.collected as book\n"
        "real = book.Collected.add\n"
        "book.Collected.add = lambda self, r: real(self, r) if 'hooks' in r.id else None\n"
    )
    attention.write_text(attention.read_text().replace(ATTENTION, shortens + ATTENTION))
    done = certify(*A_RUN, "--level", "1")
    assert done.returncode == 2, done.stdout + done.stderr
    assert "no level reached" in done.stdout
    assert "planned and not run: " in done.stdout


def wait_for(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def gone(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:  # gone meanwhile, or a system without such files
        return False
    return state == "Z"  # it has ended, and whoever inherited it has not asked how


@contextlib.contextmanager
def heeded(number):
    """What is started in it heeds a signal, also where this run was told not to (``nohup``)."""
    if number == signal.SIGKILL:
        yield
        return
    was = signal.signal(number, signal.SIG_DFL)
    try:
        yield
    finally:
        signal.signal(number, was)


@pytest.mark.parametrize(
    ("number", "code", "left"),
    [
        (signal.SIGTERM, 143, []),
        (signal.SIGHUP, 129, []),
        (signal.SIGINT, 130, []),
        (signal.SIGKILL, -9, None),  # nobody is there to take the folder away
    ],
)
def test_a_run_ends_with_its_parent(certify, tmp_path, attention, number, code, left):
    hangs = (
        "import os, pathlib, subprocess, time\n"
        "other = subprocess.Popen(['sleep', '600'])\n"
        f"note = pathlib.Path({str(tmp_path)!r}, 'part')\n"
        "note.write_text(f'{os.getpid()} {other.pid}')\n"
        "note.rename(note.with_name('pids'))\n"
        "time.sleep(600)\n"
    )
    attention.write_text(attention.read_text().replace(ATTENTION, hangs + ATTENTION))
    folder = tmp_path / "temporary"
    folder.mkdir()
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with heeded(number):
        process = certify(
            *A_RUN,
            started=lambda *given, **named: subprocess.Popen(*given, **named, **quiet),
            TMPDIR=str(folder),
        )
    try:
        wait_for((tmp_path / "pids").exists)
        process.send_signal(number)
        assert process.wait(30) == code
    finally:
        process.kill()
        process.wait()
    for pid in map(int, (tmp_path / "pids").read_text().split()):
        wait_for(lambda pid=pid: gone(pid))
    if left is not None:
        assert [each.name for each in folder.iterdir()] == left
