"""What a check of a host is, and what comes out of it. As in the suite, checks are data."""

from __future__ import annotations

import enum
import importlib
from collections.abc import Callable, Iterator, Sequence

import msgspec

from sglang_contracts.doctor.host import Host

MODULES = ("platforms", "versions", "kernels", "memory", "topology", "leftovers", "answers")
"""Where the checks stand, in the order in which they are asked."""


class Status(enum.Enum):
    """How a check came out."""

    OK = "ok"
    FOUND = "found"
    UNKNOWN = "cannot tell"


class Diagnosis(msgspec.Struct, frozen=True):
    """What a check found.

    Attributes:
        id: Of the check.
        status: Ok, found, or cannot tell.
        evidence: Facts, each in words of its own.
    """

    id: str
    status: Status
    evidence: tuple[str, ...] = ()


class Check(msgspec.Struct, frozen=True):
    """One check.

    Attributes:
        id: ``family.what-must-hold``.
        symptom: What is seen where it does not hold.
        title: What must hold.
        mend: What to do where it does not.
        run: Gives the status and its evidence.
    """

    id: str
    symptom: str
    title: str
    mend: str
    run: Callable[[Host], tuple[Status, Sequence[str]]]


_CHECKS: dict[str, Check] = {}

Function = Callable[[Host], tuple[Status, Sequence[str]]]


def check(id: str, *, symptom: str, title: str, mend: str) -> Callable[[Function], Function]:
    """Register the decorated function as a check; the arguments are :class:`Check`'s."""

    def register(function: Function) -> Function:
        if id in _CHECKS:
            raise ValueError(f"there are two checks {id}")
        _CHECKS[id] = Check(id, symptom, title, mend, function)
        return function

    return register


def checks() -> tuple[Check, ...]:
    """All checks, in the order in which they are asked."""
    for name in MODULES:
        importlib.import_module(f"sglang_contracts.doctor.{name}")
    return tuple(_CHECKS.values())


def diagnose(host: Host) -> Iterator[tuple[Check, Diagnosis]]:
    """Each check with what it found on a host; none ends the others."""
    for each in checks():
        try:
            status, evidence = each.run(host)
        except Exception as error:
            said = " ".join(str(error).split())[:200]
            status, evidence = Status.UNKNOWN, (f"{type(error).__name__}: {said}",)
        yield each, Diagnosis(each.id, status, tuple(evidence))
