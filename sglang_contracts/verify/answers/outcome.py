"""What a use comes to in one release."""

from __future__ import annotations

import enum
from typing import NamedTuple

from sglang_contracts.surface.symbol import Symbol


class Status(enum.IntEnum):
    """Unknown is not broken, and it is not fine either."""

    OK = 0
    UNKNOWN = 1
    BROKEN = 2


class Outcome(NamedTuple):
    """The status of one use in one release, and what it stands on."""

    status: Status
    what: str = ""
    """BROKEN: how it fails (``FAILURES`` in :mod:`sglang_contracts.verify.rules.registry` lists all
    ways). OK: ``kind`` or ``text`` where the kind of a value told."""
    symbol: str = ""
    """As a finding spells it."""
    found: tuple[Symbol, ...] = ()
    """OK: what it resolved to."""
    owner: Symbol | None = None
    """BROKEN: the class or module that lacks it, the function that is called."""
    name: str = ""
    """The attribute, keyword, parameter, flag …"""
    detail: str = ""
    named: str = ""
    """The conventional name it rests on; empty: none."""
    old: str = ""
    new: str = ""
    silence: str = ""
    """UNKNOWN: the reason for which nothing is said though it would break; empty: none."""

    def silenced(self, reason: str) -> Outcome:
        """What would break, of which nothing is said for a reason (its id)."""
        return self._replace(status=Status.UNKNOWN, silence=reason)


OK = Outcome(Status.OK)
UNKNOWN = Outcome(Status.UNKNOWN)
