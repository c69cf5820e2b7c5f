"""What one pytest session has planned, run and found; written out for ``certify``."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from sglang_contracts.suite.result import Result

if TYPE_CHECKING:
    from sglang_contracts.suite.session import Session

KEY = "_sglang_contracts_collected"


@dataclass
class Collected:
    """The book of a session.

    Attributes:
        planned: Ids of the selected checks.
        results: Id → result.
        used: (mode, dtype, page size) exercised.
        session: What was tested; None until the first test asks.
        stream: Where each result is written as it comes; None: nowhere.
        elsewhere: Ids of the checks that other workers ran.
    """

    planned: list[str] = field(default_factory=list)
    results: dict[str, Result] = field(default_factory=dict)
    used: set[tuple[str, str, int]] = field(default_factory=set)
    session: Session | None = None
    stream: Path | None = None
    elsewhere: set[str] = field(default_factory=set)

    def add(self, result: Result) -> None:
        """Book a result."""
        self.results[result.id] = result
        self._write({"result": msgspec.to_builtins(result)})

    def plan(self, ids: list[str]) -> None:
        """Book what is going to run."""
        self.planned = ids
        self._write({"planned": ids})

    def stop(self, message: str, hint: str) -> None:
        """Write why nothing could be run."""
        self._write({"stopped": {"message": message, "hint": hint}})

    def begin(self, id: str) -> None:
        """Write which check begins: where the process ends early, it was this one."""
        self._write({"began": id})

    def finish(self) -> None:
        """Write what was exercised and against what."""
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
                }
            }
        )

    def shortfall(self) -> list[str]:
        """Planned checks without a result."""
        return [
            each for each in self.planned if each not in self.results and each not in self.elsewhere
        ]

    def _write(self, value: dict[str, Any]) -> None:
        if self.stream is None:
            return
        line = json.dumps(value, sort_keys=True) + "\n"
        descriptor = os.open(self.stream, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            os.write(descriptor, line.encode())  # one call: lines of workers do not mix
        finally:
            os.close(descriptor)


def collected(config: Any) -> Collected:
    """The book of this pytest session."""
    found = getattr(config, KEY, None)
    if found is None:
        found = Collected()
        setattr(config, KEY, found)
    return found
