"""The one exception a command turns into exit code 2.

Everything that keeps a command from answering (broken TOML, an unknown release, a corrupt
file, no network) is a :class:`ContractsError`: a sentence that names the thing, and a hint that
names the fix. A *finding* is never an exception.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from packaging.version import Version


class ContractsError(Exception):
    """A command cannot run.

    Args:
        message: One sentence that names the thing that is wrong.
        hint: What the user can do about it; empty where nothing is known.
    """

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}\n  hint: {self.hint}" if self.hint else self.message


def nearest_releases(wanted: Version, recorded: Sequence[str], limit: int = 3) -> list[str]:
    """The recorded releases around ``wanted``: the ones just below and just above, ascending."""
    from packaging.version import Version  # not at the top: every command imports this module

    below = [release for release in recorded if Version(release) < wanted]
    above = [release for release in recorded if Version(release) > wanted]
    after = above[: max(1, limit - 2)] if below else above[:limit]
    return [*below[-(limit - len(after)) :], *after] if len(after) < limit else after


def nearest(wanted: str, known: Iterable[str], limit: int = 3) -> list[str]:
    """The known spellings closest to ``wanted``, best first, at most ``limit`` of them."""
    return difflib.get_close_matches(wanted, list(known), n=limit, cutoff=0.6)
