"""The processes that the suite runs in: started, watched, ended; what they write, read as it comes.

A backend may hang, crash or leave children behind: each process has a group of its own, which is
ended with it. Several processes share the checks, the first takes every n-th from the first on,
and so on: the slow checks of a level stand together.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from sglang_contracts import subprocesses
from sglang_contracts.suite import lifeline

_PAUSE = 0.05
"""Seconds between two looks at what the processes have written."""

_ENDINGS = ("SIGTERM", "SIGHUP")
"""What CI's cancel, ``timeout``, ``docker stop`` and a closed terminal send."""
_OF_PYTEST = ("PYTEST_ADDOPTS", "PYTEST_PLUGINS")

Heard = Callable[[dict[str, Any]], None]
"""Called with each line that a process writes, as it comes."""


class _Named(msgspec.Struct, frozen=True):
    id: str


class _Stopped(msgspec.Struct, frozen=True):
    message: str
    hint: str


class _Finished(msgspec.Struct, frozen=True):
    used: list[tuple[str, str, int]] = []
    capabilities: dict[str, Any] = {}


class _Line(msgspec.Struct, frozen=True):
    """What a line may say. The plugin runs where they are written: one may be anything."""

    planned: list[str] = []
    began: str = ""
    result: _Named = _Named("")
    finished: _Finished = _Finished()
    stopped: _Stopped = _Stopped("", "")


@dataclass
class Part:
    """One process and its share of the checks.

    Attributes:
        process: The process, leader of its own session and group.
        results: The file of JSON lines that it writes.
        log: What it says.
        lines: What it has written so far, decoded.
        ended: How it ended, and where: half a sentence; empty while it runs.
    """

    process: subprocess.Popen[bytes]
    results: Path
    log: Path
    lines: list[dict[str, Any]] = field(default_factory=list)
    ended: str = ""
    _offset: int = 0

    def read(self) -> Iterator[dict[str, Any]]:
        """What it has written since the last time. A line without its end has not come yet."""
        if not self.results.exists():
            return
        with self.results.open("rb") as file:
            file.seek(self._offset)
            text = file.read()
        whole = text[: text.rfind(b"\n") + 1]
        self._offset += len(whole)
        for line in whole.splitlines():
            try:
                told = json.loads(line)
                msgspec.convert(told, _Line)
            except (ValueError, RecursionError):  # not one of ours: somebody else wrote there
                continue
            self.lines.append(told)
            yield told

    def found(self, kind: str) -> list[Any]:
        """The lines of one kind (``planned``, ``began``, ``result``, ``stopped``, ``finished``)."""
        return [line[kind] for line in self.lines if kind in line]

    def first(self, kind: str) -> Any:
        """The first line of a kind; None if none came."""
        return next(iter(self.found(kind)), None)

    @property
    def reached(self) -> bool:
        """Whether it came as far as the checks: one has a result, or all is over."""
        return bool(self.found("result")) or self.first("finished") is not None

    def unfinished(self) -> bool:
        """Whether a check of its share has no result."""
        done = {result["id"] for result in self.found("result")}
        return not done.issuperset(self.first("planned") or ())

    def place(self) -> str:
        """What ran last."""
        begun = self.found("began")
        if not begun:
            return "before the first check: while the plugin and SGLang were loaded"
        done = {result["id"] for result in self.found("result")}
        return f"during {begun[-1]}" if begun[-1] not in done else f"after {begun[-1]}"

    def said(self) -> str:
        """Its output."""
        return self.log.read_text(encoding="utf-8", errors="replace")


def run(
    arguments: Sequence[str],
    jobs: int,
    folder: Path,
    timeout: float,
    heard: Heard,
    meanwhile: Callable[[], object] = lambda: None,
) -> list[Part]:
    """Run pytest with ``arguments``, its checks shared by ``jobs`` processes, until all have ended.

    Args:
        arguments: Of pytest, without those that name the share and the file of results.
        jobs: How many processes.
        folder: Where they run, write and may leave what they like.
        timeout: Seconds after which those that still run are ended.
        heard: Called with each line that one of them writes.
        meanwhile: Called once they are started: they import for a second or more.
    """
    parts: list[Part] = []
    end = time.monotonic() + timeout
    lifeline_read, lifeline_write = os.pipe()
    try:
        for number in range(1, jobs + 1):
            parts.append(_start(arguments, number, jobs, folder, lifeline_read))
        meanwhile()
        while any(part.process.poll() is None for part in parts) and time.monotonic() < end:
            time.sleep(_PAUSE)
            _listen(parts, heard)
        late = [part for part in parts if part.process.poll() is None]
    finally:
        for part in parts:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(part.process.pid, signal.SIGKILL)  # and what it has left behind
            part.process.wait()
        os.close(lifeline_read)
        os.close(lifeline_write)
    _listen(parts, heard)
    for part in parts:
        status = part.process.returncode
        how = f"was ended after {timeout:.0f} s" if part in late else f"ended with status {status}"
        part.ended = f"its process {how}, {part.place()}"
    return parts


def _start(
    arguments: Sequence[str], number: int, jobs: int, folder: Path, lifeline_read: int
) -> Part:
    home = folder / str(number)
    home.mkdir()
    results, log = home / "results.jsonl", home / "log.txt"
    own = ["--sglang-part", f"{number}/{jobs}", "--sglang-results", str(results)]
    # No plugin of the user's environment may take part in the verdict.
    setting = {name: value for name, value in os.environ.items() if name not in _OF_PYTEST}
    setting["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    setting[lifeline.VARIABLE] = str(lifeline_read)
    setting.setdefault("OMP_NUM_THREADS", "1")
    with log.open("wb") as output:
        process = python(["-m", "pytest", *arguments, *own], home, setting, output, lifeline_read)
    return Part(process, results, log)


def python(
    arguments: Sequence[str], home: Path, variables: dict[str, str], output: BinaryIO, pipe: int
) -> subprocess.Popen[bytes]:
    """Start Python in ``home``, in a session and group of its own, with ``pipe`` left open."""
    return subprocess.Popen(  # noqa: S603 - our own suite
        subprocesses.python(*arguments),
        cwd=home,
        env=variables,
        stdout=output,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        pass_fds=(pipe,),
        start_new_session=True,
    )


def _listen(parts: Sequence[Part], heard: Heard) -> None:
    for part in parts:
        for line in part.read():
            heard(line)


@contextlib.contextmanager
def ended_by_signals() -> Iterator[None]:
    """Signals that would end this process at once end it as Ctrl-C does: after its clean-up.

    One that is ignored (``nohup``) stays ignored. Only the main thread may set handlers.
    """
    kept: dict[signal.Signals, Any] = {}
    if threading.current_thread() is threading.main_thread():
        for name in _ENDINGS:
            number = getattr(signal, name)
            if signal.getsignal(number) is signal.SIG_DFL:
                kept[number] = signal.signal(number, _end)
    try:
        yield
    finally:
        for number, before in kept.items():
            signal.signal(number, before)


def _end(number: int, _: Any) -> None:
    raise SystemExit(128 + number)  # what a shell says of a process that this signal ended
