"""What a process has started, found again and ended: also what has left its group or its parent.

A child in a session of its own (``setsid``) is in no group of ours, and one whose parent is gone is
nobody's child. Both carry the environment that they were started with, in which a mark stands; and
as long as the parent lives, they are its descendants. Where there is no ``/proc``, the group is all
that is ended.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import signal
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Protocol

_PROC = Path("/proc")
_VARIABLE = "SGLANG_CONTRACTS_RUN"
_ROUNDS = 5
"""Something may start another process while it is looked for."""


class Started(Protocol):
    """A process as :class:`subprocess.Popen` presents it."""

    pid: int
    returncode: Any

    def wait(self) -> object:
        """Its exit status, when it has ended."""


class Family:
    """A process, its group, and everything that comes of it.

    Args:
        token: What the mark in its environment says.
    """

    def __init__(self, token: str) -> None:
        self._token = token
        self._seen: dict[int, str] = {}

    @classmethod
    def new(cls) -> Family:
        """One with a mark that nobody else has."""
        return cls(secrets.token_hex(8))

    def mark(self) -> dict[str, str]:
        """What is to stand in the environment of its first process."""
        return {_VARIABLE: self._token}

    def look(self, process: Started) -> set[int]:
        """Its living processes, as far as they descend from the first one, and that one lives."""
        if process.returncode is not None:
            return set()  # another process may have its number by now
        children: dict[int, list[int]] = {}
        for pid, parent in _processes():
            children.setdefault(parent, []).append(pid)
        found, waiting = set[int](), [process.pid]
        while waiting:
            pid = waiting.pop()
            if pid not in found:
                found.add(pid)
                waiting += children.get(pid, [])
        for pid in found:
            self._seen[pid] = _born(pid)
        return found

    def end(self, process: Started) -> None:
        """End all of it, and wait for the first process."""
        self.look(process)
        for pid, born in self._seen.items():
            if pid != process.pid and born and _born(pid) == born:
                _kill(pid)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        for _ in range(_ROUNDS):
            marked = [pid for pid, _ in _processes() if self._is_marked(pid)]
            if not marked:
                return
            for pid in marked:
                _kill(pid)

    def _is_marked(self, pid: int) -> bool:
        if not self._token or pid == os.getpid():
            return False
        try:
            if _state(pid) == "Z":
                return False
            variables = (_PROC / str(pid) / "environ").read_bytes()
        except OSError:  # gone meanwhile, or another user's
            return False
        return f"{_VARIABLE}={self._token}".encode() in variables.split(b"\0")


def memory_of(pids: Iterable[int]) -> int:
    """Bytes of memory that processes hold; 0 where it cannot be told."""
    total = 0
    for pid in pids:
        with contextlib.suppress(OSError, ValueError, IndexError):
            pages = int((_PROC / str(pid) / "statm").read_text().split()[1])
            total += pages * os.sysconf("SC_PAGE_SIZE")
    return total


def memory_to_be_had() -> int:
    """Bytes of memory that are free on this machine, or in this container; 0: not known."""
    found = []
    with contextlib.suppress(OSError, ValueError, IndexError):
        for line in (_PROC / "meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                found.append(int(line.split()[1]) << 10)
    with contextlib.suppress(OSError, ValueError):
        found.append(int(Path("/sys/fs/cgroup/memory.max").read_text()))
    return min(found, default=0)


def _processes() -> Iterator[tuple[int, int]]:
    """Every process and its parent."""
    with contextlib.suppress(OSError):
        for entry in os.scandir(_PROC):
            if entry.name.isdigit():
                with contextlib.suppress(OSError, ValueError, IndexError):
                    yield int(entry.name), int(_status(int(entry.name))[1])


def _status(pid: int) -> list[str]:
    """The fields of a process' status after its name, which may hold anything."""
    text = (_PROC / str(pid) / "stat").read_bytes().decode(errors="replace")
    return text.rpartition(")")[2].split()


def _state(pid: int) -> str:
    return _status(pid)[0]


def _born(pid: int) -> str:
    """When a process has begun: another one may have its number by now."""
    with contextlib.suppress(OSError, IndexError):
        return _status(pid)[19]
    return ""


def _kill(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, signal.SIGKILL)
