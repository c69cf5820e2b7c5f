"""Runs the checks of level 5 on one server, and ends whatever becomes of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import msgspec

from sglang_contracts.serving.client import ServerGoneError, ServingError
from sglang_contracts.serving.registry import LEVEL, Check
from sglang_contracts.serving.session import Session
from sglang_contracts.suite.result import Result
from sglang_contracts.suite.violation import Inapplicable, Violation

Progress = Callable[[int, int, Result], None]


@dataclass(frozen=True)
class Ran:
    """What came out.

    Attributes:
        results: One for each check that ran.
        planned: Ids of all that were to run.
        ended: Why the others did not; empty: all ran.
        interrupted: Somebody pressed Ctrl-C.
    """

    results: tuple[Result, ...]
    planned: tuple[str, ...]
    ended: str = ""
    interrupted: bool = False

    @property
    def not_run(self) -> tuple[str, ...]:
        """What was planned and did not run."""
        done = {each.id for each in self.results}
        return tuple(id for id in self.planned if id not in done)


def run(session: Session, checks: Sequence[Check], progress: Progress | None = None) -> Ran:
    """Run the checks one after the other; a server that ends, ends the run.

    Args:
        session: The server.
        checks: What is run.
        progress: Told how many have run, of how many, and the last result.
    """
    planned, results = tuple(each.id for each in checks), list[Result]()
    for each in checks:
        try:
            result, gone = _run(session, each)
        except KeyboardInterrupt:
            return Ran(tuple(results), planned, f"interrupted during {each.id}", True)
        results.append(result)
        if progress is not None:
            progress(len(results), len(planned), result)
        if gone:
            return Ran(tuple(results), planned, f"the server ended during {each.id}")
        if session.interrupted:
            return Ran(tuple(results), planned, f"interrupted during {each.id}", True)
    return Ran(tuple(results), planned)


def _run(session: Session, check: Check) -> tuple[Result, bool]:
    """The result of a check, and whether the server is gone."""
    session.omitted.clear()
    begin = time.perf_counter()
    base, gone = Result(check.id, LEVEL, check.title, "pass", clauses=check.clauses), False
    try:
        check.run(session)
    except Inapplicable as reason:
        base = msgspec.structs.replace(base, outcome="skip", reason=reason.reason)
    except Violation as error:
        base = msgspec.structs.replace(base, outcome="fail", message=_why(error.message, check))
    except ServingError as error:
        gone = isinstance(error, ServerGoneError) and not session.alive()
        said = f"the server ended while it was asked: {error}" if gone else str(error)
        if gone:
            said += session.last_words()
        base = msgspec.structs.replace(base, outcome="fail", message=_why(said, check), crash=True)
    if base.outcome != "skip" and not gone and not session.alive():
        gone = True  # what it answered last may have been its last
        said = f"{base.message}\nafter it, the server is not healthy any more".strip()
        said += session.last_words()
        base = msgspec.structs.replace(base, outcome="fail", message=said, crash=True)
    seconds = round(time.perf_counter() - begin, 3)
    return msgspec.structs.replace(base, seconds=seconds, omitted=tuple(session.omitted)), gone


def _why(message: str, check: Check) -> str:
    return f"{message}\nwhy it matters: {check.why}" if check.why else message
