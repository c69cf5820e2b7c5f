"""Certifies a plugin on many fakes: what each run imports is imported once, then forked.

    python certifier.py PLUGIN PROFILE OUT RELEASE...

Importing torch and pytest takes a fifth of a quick run. Each release has its own processes as
``certify`` starts them, in a session of its own and with its own SGLang: only their beginning is a
fork of this process instead of a new interpreter. That one of those serves is asked by ``py``.

Writes a line for each release that has ended: its name and the exit status. What the command says
stands in ``OUT/RELEASE/said.txt``.
"""

from __future__ import annotations

import gc
import itertools
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

import hypothesis  # noqa: F401 - what a run imports
import numpy  # noqa: F401 - what a run imports
import pytest
import torch
from sglang_contracts.fakes import release as fake_release  # noqa: F401 - what a run imports

from sglang_contracts.certify import processes
from sglang_contracts.cli import main
from sglang_contracts.contract import load_contracts
from sglang_contracts.suite import conformance, lifeline  # noqa: F401 - what a run imports
from sglang_contracts.suite.registry import checks
from sglang_contracts.suite.subject import load_subject
from sglang_contracts.surface import load_catalog
from sglang_contracts.verify import check_plugin


class Forked:
    """A forked process, as :class:`subprocess.Popen` presents one."""

    def __init__(self, body: Callable[[], Any]) -> None:
        self.returncode: int | None = None
        sys.stdout.flush()
        sys.stderr.flush()
        self.pid = os.fork()
        if not self.pid:
            _end_after(body)

    def poll(self) -> int | None:
        """Its exit status; None while it runs."""
        return self._asked(os.WNOHANG)

    def wait(self) -> int | None:
        """Its exit status, when it has ended."""
        return self._asked(0)

    def _asked(self, options: int) -> int | None:
        if self.returncode is None:
            ended, status = os.waitpid(self.pid, options)
            if ended:
                self.returncode = os.waitstatus_to_exitcode(status)
        return self.returncode


def _end_after(body: Callable[[], Any]) -> NoReturn:
    """End this process with what ``body`` returns: nothing of its parent's is left to run."""
    status = 70
    try:
        status = int(body())
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def _python(
    arguments: Sequence[str],
    home: Path,
    variables: Mapping[str, str],
    output: int,
    pipes: Sequence[int],
) -> Forked:
    """What :func:`processes.python` does, by a fork."""
    assert arguments[:2] == ["-m", "pytest"]

    def body() -> int:
        os.setsid()
        os.chdir(home)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(output, 1)
        os.dup2(output, 2)
        kept = (2, *sorted(pipes), os.sysconf("SC_OPEN_MAX"))
        for below, above in itertools.pairwise(kept):
            os.closerange(below + 1, above)
        os.environ.clear()
        os.environ.update(variables)
        sys.path.insert(0, str(home))
        return pytest.main(list(arguments[2:]))

    return Forked(body)


def _prepare(plugin: str, releases: Sequence[str]) -> None:
    """Load what every run loads, and have the static check's answers kept for all releases."""
    torch.set_num_threads(1)
    checks()
    load_contracts()
    subject = load_subject(plugin)
    check_plugin(
        subject.root or plugin,
        load_catalog(),
        releases,
        exclude=subject.settings.exclude,
        known_as=dict(subject.settings.known_as),
    )
    gc.freeze()  # what is shared stays shared: collecting would write to every object


def _certify(plugin: str, profile: str, release: str, out: Path) -> int:
    out.mkdir()
    with (out / "said.txt").open("wb") as said:
        os.dup2(said.fileno(), 1)
        os.dup2(said.fileno(), 2)
    asked = ["certify", "-q", plugin, "--sglang", f"fake:{release}", "--profile", profile]
    return main([*asked, "--jobs", "1", "--out", str(out)])


def _all(plugin: str, profile: str, folder: Path, releases: Sequence[str]) -> None:
    processes.python = _python
    running: dict[str, Forked] = {}
    waiting = list(releases)
    while waiting or running:
        while waiting and len(running) < (os.cpu_count() or 1):
            release = waiting.pop(0)
            running[release] = Forked(
                lambda release=release: _certify(plugin, profile, release, folder / release)
            )
        pid, status = os.wait()
        ended = next(name for name, each in running.items() if each.pid == pid)
        del running[ended]
        print(ended, os.waitstatus_to_exitcode(status), flush=True)


if __name__ == "__main__":
    _prepare(sys.argv[1], sys.argv[4:])
    _all(sys.argv[1], sys.argv[2], Path(sys.argv[3]), sys.argv[4:])
