"""The checks there are: each is data and one function.

The engine knows no check by name. A check's id is ``family.what-must-hold``; ids are API: vendors
list them as expected failures, certificates carry them. None is reused or renamed without an alias.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sglang_contracts.errors import ContractsError, nearest

if TYPE_CHECKING:
    from sglang_contracts.suite.context import Context

LEVELS = {
    0: "static: every use resolves in this release",
    1: "load: entry points load, the platform activates or declines, required hooks are there",
    2: "interface: right shapes, dtypes, devices and key/value calls for everything declared",
    3: "meaning: equals an independent oracle, and nothing outside its slots changes",
    4: "discipline: no host transfer, no growth, its own kernels, a log that names the backend",
    5: "serving: a server holds its answers, under concurrency, long prompts and a soak",
}
"""What a level says."""

_ID = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*\.[a-z0-9]+(-[a-z0-9]+)*")


@dataclass(frozen=True)
class Check:
    """One check.

    Attributes:
        id: ``family.what-must-hold``.
        level: 0 to 4; those of level 5 ask a server (:mod:`sglang_contracts.serving`).
        title: What must hold, as a sentence.
        run: The function; returns if it holds.
        needs: Capabilities that must be declared (:mod:`~sglang_contracts.suite.capabilities`).
        clauses: Contract clauses it comes from, ``contract/clause``.
        forbids_raising: That the backend does not raise is part of what must hold.
        why: What happens in production where it does not hold.
    """

    id: str
    level: int
    title: str
    run: Callable[[Context], None]
    needs: tuple[str, ...] = ()
    clauses: tuple[str, ...] = ()
    forbids_raising: bool = False
    why: str = ""

    @property
    def family(self) -> str:
        """The part of the id before the dot."""
        return self.id.partition(".")[0]


_CHECKS: dict[str, Check] = {}
_loaded = False


def check(
    id: str,
    level: int,
    title: str,
    *,
    needs: Sequence[str] = (),
    clauses: Sequence[str] = (),
    forbids_raising: bool = False,
    why: str = "",
) -> Callable[[Callable[[Context], None]], Callable[[Context], None]]:
    """Register the decorated function as a check; the arguments are :class:`Check`'s."""
    if not _ID.fullmatch(id):
        raise ValueError(f"{id!r} is no check id: write family.what-must-hold")
    if level not in LEVELS:
        raise ValueError(f"{id}: there is no level {level}")

    def register(function: Callable[[Context], None]) -> Callable[[Context], None]:
        if id in _CHECKS:
            raise ValueError(f"there are two checks {id}")
        _CHECKS[id] = Check(
            id, level, title, function, tuple(needs), tuple(clauses), forbids_raising, why
        )
        return function

    return register


def checks(level: int = 4) -> tuple[Check, ...]:
    """All checks up to a level, by level, then in the order in which they are written."""
    global _loaded
    if not _loaded:
        package = importlib.import_module("sglang_contracts.suite.checks")
        for module in sorted(info.name for info in pkgutil.iter_modules(package.__path__)):
            importlib.import_module(f"{package.__name__}.{module}")
        _loaded = True
    return tuple(sorted((c for c in _CHECKS.values() if c.level <= level), key=lambda c: c.level))


def is_id(text: str) -> bool:
    """Whether a text has the form of a check's id."""
    return _ID.fullmatch(text) is not None


def find(id: str) -> Check:
    """The check with that id.

    Raises:
        ContractsError: There is none; the nearest are named.
    """
    known = {each.id: each for each in checks()}
    if id not in known:
        close = nearest(id, known)
        hint = f"did you mean {' or '.join(close)}?" if close else "see docs/certification.md"
        raise ContractsError(f"there is no check '{id}'", hint)
    return known[id]
