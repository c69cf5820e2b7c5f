"""The checks of level 5: each is data and one function.

As in the suite (:mod:`sglang_contracts.suite.registry`), ids are API: none is reused or renamed
without an alias, and the engine knows none of them by name.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sglang_contracts.errors import ContractsError, nearest

if TYPE_CHECKING:
    from sglang_contracts.serving.session import Session

LEVEL = 5

ORDER = ("service", "answers", "concurrency", "latency", "context", "soak")
"""The families, from what is asked first to what takes longest."""

Function = Callable[["Session"], None]


@dataclass(frozen=True)
class Check:
    """One check.

    Attributes:
        id: ``family.what-must-hold``.
        title: What must hold, as a sentence.
        run: The function; returns if it holds.
        clauses: Contract clauses it comes from, ``contract/clause``.
        why: What happens in production where it does not hold.
    """

    id: str
    title: str
    run: Function
    clauses: tuple[str, ...] = ()
    why: str = ""

    @property
    def family(self) -> str:
        """The part of the id before the dot."""
        return self.id.partition(".")[0]


_CHECKS: dict[str, Check] = {}


def check(
    id: str, level: int, title: str, *, clauses: Sequence[str] = (), why: str = ""
) -> Callable[[Function], Function]:
    """Register the decorated function as a check; the arguments are :class:`Check`'s.

    ``level`` stands there as it does in the suite, so that one reader knows the plan of both.
    """
    if level != LEVEL:
        raise ValueError(f"{id}: checks of a server are of level {LEVEL}")
    if id.partition(".")[0] not in ORDER:
        raise ValueError(f"{id}: no such family")

    def register(function: Function) -> Function:
        if id in _CHECKS:
            raise ValueError(f"there are two checks {id}")
        _CHECKS[id] = Check(id, title, function, tuple(clauses), why)
        return function

    return register


def checks() -> tuple[Check, ...]:
    """All checks, by family, then in the order in which they are written."""
    package = importlib.import_module("sglang_contracts.serving.checks")
    for module in sorted(info.name for info in pkgutil.iter_modules(package.__path__)):
        importlib.import_module(f"{package.__name__}.{module}")
    return tuple(sorted(_CHECKS.values(), key=lambda each: ORDER.index(each.family)))


def chosen(only: Sequence[str]) -> tuple[Check, ...]:
    """The checks whose id or family is named; all where none is.

    Raises:
        ContractsError: There is no such check or family; the nearest are named.
    """
    every = checks()
    if not only:
        return every
    known = {*(each.id for each in every), *ORDER}
    for name in only:
        if name not in known:
            close = nearest(name, known)
            hint = f"did you mean {' or '.join(close)}?" if close else f"there are {ORDER}"
            raise ContractsError(f"there is no check or family '{name}'", hint)
    return tuple(each for each in every if each.id in only or each.family in only)
