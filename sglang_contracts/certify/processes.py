"""The processes that the suite runs in: started, watched, ended; what they tell, heard as it comes.

A backend may hang, crash, fill the memory, print without end or leave children behind: each process
has a session and a group of its own, what it starts is ended with it, and what it prints is kept in
part. Several processes share the checks, the first takes every n-th from the first on, and so on:
the slow checks of a level stand together. Where one ends before its time, another one runs what is
left of its share.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sglang_contracts import subprocesses
from sglang_contracts.certify.leftovers import Family, memory_of
from sglang_contracts.certify.output import Kept
from sglang_contracts.certify.share import Share
from sglang_contracts.suite import channel, lifeline

_PAUSE = 0.05
"""Seconds between two looks at whether a process has ended."""

_LOOKS_AT_MEMORY = 0.5
"""Seconds between two looks at how much memory they take."""

_BLOCK, _MOST_BLOCKS = 1 << 16, 1 << 10
"""Bytes that are read at once, and how many times of one that has ended: what it has started, and
could not be ended, may print for ever."""

_MOST_STARTS = 6
"""Of one share: a backend that ends its process in every pass would be loaded for every check."""

_ENDINGS = ("SIGTERM", "SIGHUP")
"""What CI's cancel, ``timeout``, ``docker stop`` and a closed terminal send."""
_OF_PYTEST = ("PYTEST_ADDOPTS", "PYTEST_PLUGINS")

Heard = Callable[[dict[str, Any]], None]
"""Called with each line that a process tells and that counts, as it comes."""


@dataclass(frozen=True)
class Limits:
    """After what a run is ended.

    Attributes:
        seconds: Of the whole run.
        memory: Bytes that its processes may take together; 0: any.
        closing: Seconds that a process has to end by itself, once its checks have ended.
    """

    seconds: float
    memory: int = 0
    closing: float = 60.0


@dataclass
class Part:
    """One process and its share of the checks.

    Attributes:
        process: The process, leader of its own session and group.
        share: What it was given, and what it tells.
        output: What it says, as far as it is kept.
        family: The process and all that it has started.
        number: Of the share, from 1 on.
        starts: How many processes have run this share, with this one.
        ended: How it ended, and where: half a sentence; empty while it runs.
        lingered: Its checks had ended, and it had not: it was ended after a while.
        late: The time of the whole run was over.
        why: For what it was ended; empty: for nothing.
        closes_at: When it is ended, its checks having ended; None: they have not.
    """

    process: subprocess.Popen[bytes]
    share: Share
    output: Kept
    family: Family
    number: int
    starts: int = 1
    ended: str = ""
    lingered: bool = False
    late: bool = False
    why: str = ""
    closes_at: float | None = None

    @property
    def ended_early(self) -> bool:
        """Whether it ended, or was ended for its own doing, before its checks did."""
        return bool(self.ended) and not self.late and not self.share.closing

    def said(self) -> str:
        """Its output, as far as it was kept."""
        return self.output.text()


class Run:
    """Processes that share checks; :func:`run` is all that is asked of it.

    Args:
        arguments: Of pytest, without those that name the share.
        folder: Where they run, write and may leave what they like.
        limits: After what they are ended.
        heard: Called with each line that counts.
    """

    def __init__(
        self, arguments: Sequence[str], folder: Path, limits: Limits, heard: Heard
    ) -> None:
        self.parts: list[Part] = []
        self._arguments, self._folder, self._limits, self._heard = arguments, folder, limits, heard
        self._selector = selectors.DefaultSelector()
        self._lifeline = os.pipe()
        self._end = time.monotonic() + limits.seconds
        self._look = time.monotonic() + _LOOKS_AT_MEMORY

    def start(self, ids: Sequence[str], number: int, after: Part | None = None) -> None:
        """Start a process on a share; ``after``: it takes what that one has left."""
        starts = after.starts + 1 if after is not None else 1
        home = self._folder / f"{number}-{starts}"
        home.mkdir()
        listed = home / "checks.txt"
        listed.write_text("\n".join(ids), encoding="utf-8")
        ours, theirs = socket.socketpair()
        read, write = os.pipe()
        os.set_blocking(read, False)
        ours.setblocking(False)
        family = Family.new()
        setting = {name: value for name, value in os.environ.items() if name not in _OF_PYTEST}
        # No plugin of the user's environment may take part in the verdict.
        setting["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
        setting[lifeline.VARIABLE] = str(self._lifeline[0])
        setting[channel.VARIABLE] = str(theirs.fileno())
        setting.setdefault("OMP_NUM_THREADS", "1")
        setting.update(family.mark())
        arguments = ["-m", "pytest", *self._arguments, "--sglang-checks", str(listed)]
        try:
            process = python(arguments, home, setting, write, (self._lifeline[0], theirs.fileno()))
        except BaseException:
            ours.close()
            os.close(read)
            raise
        finally:
            theirs.close()
            os.close(write)
        share = Share(ids, lambda token: _answer(ours, token))
        part = Part(process, share, Kept(), family, number, starts)
        self._selector.register(ours, selectors.EVENT_READ, (part, "told"))
        self._selector.register(read, selectors.EVENT_READ, (part, "said"))
        self.parts.append(part)

    def watch(self) -> None:
        """Hear what they tell until all have ended; start another one where one ends early."""
        while running := [part for part in self.parts if not part.ended]:
            now = time.monotonic()
            if now >= self._end:
                for part in running:
                    part.late = True
                    part.why = f"was ended after {self._limits.seconds:.0f} s"
                return
            self._hear(_PAUSE)
            self._look_at_memory(running)
            for part in running:
                if part.ended:  # for the memory that it took
                    continue
                if part.process.poll() is not None:
                    self._gone(part)
                elif part.closes_at is not None and time.monotonic() >= part.closes_at:
                    part.lingered = True
                    self._gone(part)

    def close(self) -> None:
        """End what still runs, and what they have left behind."""
        for part in self.parts:
            if not part.ended:
                part.family.end(part.process)
                self._drain(part)
                part.ended = _how(part)
        self._selector.close()
        for end in self._lifeline:
            os.close(end)

    def _gone(self, part: Part) -> None:
        """End a process and all that it has started; another one takes the rest of its share."""
        part.family.end(part.process)
        self._drain(part)
        part.ended = _how(part)
        left = part.share.left()
        if left and part.share.found("began") and part.starts < _MOST_STARTS:
            self.start(left, part.number, part)

    def _drain(self, part: Part) -> None:
        """Hear the last of a process; what it has started, and is gone, may have written, too."""
        self._hear(0)
        mine = [key for key in self._selector.get_map().values() if key.data[0] is part]
        for key in mine:
            self._read(key, _MOST_BLOCKS)
            if key.fileobj in self._selector.get_map():
                self._forget(key)

    def _hear(self, pause: float) -> None:
        for key, _ in self._selector.select(pause):
            self._read(key, 1)

    def _forget(self, key: selectors.SelectorKey) -> None:
        self._selector.unregister(key.fileobj)
        if isinstance(key.fileobj, socket.socket):
            key.fileobj.close()
        else:
            os.close(key.fd)

    def _read(self, key: selectors.SelectorKey, blocks: int) -> None:
        """Read what has come on a socket or a pipe."""
        part, kind = key.data
        for _ in range(blocks):
            try:
                data = os.read(key.fd, _BLOCK)
            except BlockingIOError:
                return
            except ConnectionError:
                data = b""
            if not data:  # its end: to ask again would give it again, for ever
                self._forget(key)
                return
            if kind == "said":
                part.output.add(data)
                continue
            for line in part.share.feed(data):
                self._heard(line)
            if part.share.closing and part.closes_at is None:
                part.family.look(part.process)  # children of a living process are easily told
                part.closes_at = time.monotonic() + self._limits.closing

    def _look_at_memory(self, running: Sequence[Part]) -> None:
        if not self._limits.memory or time.monotonic() < self._look:
            return
        self._look = time.monotonic() + _LOOKS_AT_MEMORY
        taken = {id(part): memory_of(part.family.look(part.process)) for part in running}
        if sum(taken.values()) > self._limits.memory:
            worst = max(running, key=lambda part: taken[id(part)])
            size = taken[id(worst)] / (1 << 30)
            worst.why = f"was ended at {size:.1f} GB of memory"
            self._gone(worst)


def run(
    arguments: Sequence[str],
    plan: Sequence[str],
    jobs: int,
    folder: Path,
    limits: Limits,
    heard: Heard,
    meanwhile: Callable[[], object] = lambda: None,
) -> list[Part]:
    """Run pytest with ``arguments`` until each check of the plan has run, or cannot.

    Args:
        arguments: Of pytest, without those that name the share.
        plan: Ids of the checks.
        jobs: How many processes share them.
        folder: Where they run, write and may leave what they like.
        limits: After what they are ended.
        heard: Called with each line that one of them tells.
        meanwhile: Called once they are started: they import for a second or more.

    Returns:
        Every process that was started, in that order.
    """
    found = Run(arguments, folder, limits, heard)
    try:
        for number in range(jobs):
            if plan[number::jobs]:
                found.start(plan[number::jobs], number + 1)
        meanwhile()
        found.watch()
    finally:
        found.close()
    return found.parts


def python(
    arguments: Sequence[str],
    home: Path,
    variables: Mapping[str, str],
    output: int,
    pipes: Sequence[int],
) -> subprocess.Popen[bytes]:
    """Start Python in ``home``, in a session and group of its own, with ``pipes`` left open."""
    return subprocess.Popen(  # noqa: S603 - our own suite
        subprocesses.python(*arguments),
        cwd=home,
        env=dict(variables),
        stdout=output,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        pass_fds=pipes,
        start_new_session=True,
    )


def _how(part: Part) -> str:
    """How a process has ended, and where."""
    status = part.process.returncode
    if part.lingered:
        how = "did not end by itself after its checks, and was ended"
    elif part.why:
        how = part.why
    elif status is not None and status < 0:
        how = f"was ended by {_signal(-status)}"
    else:
        how = f"ended with status {status}"
    return f"its process {how}, {part.share.place()}"


def _signal(number: int) -> str:
    with contextlib.suppress(ValueError):
        return f"signal {number} ({signal.Signals(number).name})"
    return f"signal {number}"


def _answer(ours: socket.socket, token: str) -> None:
    # Gone, or it does not read: then no result of it will count.
    with contextlib.suppress(OSError):
        ours.send(f"{token}\n".encode())


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
