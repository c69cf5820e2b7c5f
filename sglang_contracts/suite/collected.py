"""What one pytest session has planned, run and found; told to ``certify`` as it comes."""

from __future__ import annotations

import contextlib
import json
import os
import sys
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from sglang_contracts.suite.channel import Channel
from sglang_contracts.suite.result import Result
from sglang_contracts.suite.untouched import altered, functions

if TYPE_CHECKING:
    from sglang_contracts.suite.session import Session

KEY = "_sglang_contracts_collected"

_LONGEST = 100_000
"""Characters of a text that is told: what a plugin raises may have any length."""


@dataclass
class Collected:
    """The book of a session.

    Attributes:
        planned: Ids of the selected checks.
        results: Id → result.
        used: (mode, dtype, page size) exercised.
        session: What was tested; None until the first test asks.
        stream: Where each result is written as it comes; None: nowhere.
        channel: To the process that certifies; None: there is none.
        elsewhere: Ids of the checks that other workers ran.
        before: Files that were loaded before the plugin was.
    """

    planned: list[str] = field(default_factory=list)
    results: dict[str, Result] = field(default_factory=dict)
    used: set[tuple[str, str, int]] = field(default_factory=set)
    session: Session | None = None
    stream: Path | None = None
    channel: Channel | None = None
    elsewhere: set[str] = field(default_factory=set)
    before: list[str] = field(default_factory=list)
    _functions: dict[str, tuple[Any, Any]] = field(default_factory=dict)
    _told: set[tuple[str, str, int]] = field(default_factory=set)

    def add(self, result: Result, token: str = "") -> None:
        """Book a result, under the token that its beginning was given."""
        cut = msgspec.structs.replace(
            result, message=result.message[:_LONGEST], reason=result.reason[:_LONGEST]
        )
        self.results[cut.id] = cut
        new, self._told = sorted(map(list, self.used - self._told)), set(self.used)
        self._write({"result": msgspec.to_builtins(cut), "used": new, "token": token})

    def plan(self, ids: list[str]) -> None:
        """Book what is going to run."""
        self.planned = ids
        self._write({"planned": ids})

    def stop(self, message: str, hint: str) -> None:
        """Write why nothing could be run."""
        self._write({"stopped": {"message": message, "hint": hint}})

    def begin(self, id: str) -> str:
        """Tell which check begins: where the process ends early, it was this one.

        Returns:
            The token under which its result is taken; empty where nobody asks for one.
        """
        return self._write({"began": id}, answered=True)

    def finish(self) -> None:
        """Write what was exercised and against what."""
        token = self._write({"closing": True}, answered=True) if self.channel is not None else ""
        if self.session is None:
            return
        from sglang_contracts.suite.capabilities import plain

        subject = self.session.subject
        self._write(
            {
                "finished": {
                    "used": sorted(map(list, self.used)),
                    "release": self.session.release,
                    "kind": self.session.kind,
                    "plugin": {"name": subject.name, "version": subject.version},
                    "capabilities": plain(subject.capabilities),
                    "threads": _lingering(),
                    "altered": altered(self._functions),
                    "before": self.before,
                    "loaded": loaded_files(),
                },
                "token": token,
            }
        )

    def look_before_the_plugin(self) -> None:
        """Note what is loaded, and what the suite's functions are, before a plugin can touch it."""
        if self.channel is not None:
            self.before, self._functions = loaded_files(), functions()

    def shortfall(self) -> list[str]:
        """Planned checks without a result."""
        return [
            each for each in self.planned if each not in self.results and each not in self.elsewhere
        ]

    def _write(self, value: dict[str, Any], answered: bool = False) -> str:
        if self.stream is not None:
            line = json.dumps(value, sort_keys=True) + "\n"
            descriptor = os.open(self.stream, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
            try:
                os.write(descriptor, line.encode())  # one call: lines of workers do not mix
            finally:
                os.close(descriptor)
        if self.channel is None:
            return ""
        if answered:
            return self.channel.token(value)
        self.channel.send(value)
        return ""


def _lingering() -> list[str]:
    """Names of the threads for which Python waits at its exit."""
    main = threading.main_thread()
    return [each.name for each in threading.enumerate() if each is not main and not each.daemon]


def loaded_files() -> list[str]:
    """Files of all that this process has loaded: modules and, on Linux, shared libraries."""
    found = set()
    for module in list(sys.modules.values()):
        with contextlib.suppress(Exception):  # what a plugin puts there may be anything
            file = module.__file__ or ""
            if type(file) is str:
                found.add(file)
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/maps").read_text(errors="replace").splitlines():
            place = line.partition("/")[2]
            if ".so" in place:
                found.add(f"/{place}")
    return sorted(each for each in found if each)


def collected(config: Any) -> Collected:
    """The book of this pytest session."""
    found = getattr(config, KEY, None)
    if found is None:
        found = Collected()
        setattr(config, KEY, found)
    return found
