"""Expected failures of a plugin's settings: each must name something that can happen."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec
from packaging.specifiers import SpecifierSet

from sglang_contracts.errors import ContractsError

if TYPE_CHECKING:
    from sglang_contracts.plugin.reading.settings import ExpectedFailure
    from sglang_contracts.suite.result import Result


def refuse_idle(entries: Sequence[ExpectedFailure], file: str) -> None:
    """Hold entries to be of checks and releases that there are.

    Raises:
        ContractsError: One can never have an effect: silence would look like a setting that works.
    """
    if not entries:
        return
    from sglang_contracts.suite.registry import find
    from sglang_contracts.surface import load_catalog

    releases = load_catalog().releases
    for entry in entries:
        place = f"{file}:{entry.line}: " if entry.line else f"{file}: "
        try:
            find(entry.check)
        except ContractsError as error:
            raise ContractsError(
                f"{place}an expected failure names '{entry.check}', which is no check", error.hint
            ) from None
        if entry.releases and not any(SpecifierSet(entry.releases).contains(r) for r in releases):
            raise ContractsError(
                f"{place}an expected failure of {entry.check} is of releases "
                f"'{entry.releases}', and none of the recorded ones is",
                "correct its 'releases', or remove the entry",
            )


def applies(entry: ExpectedFailure, release: str) -> bool:
    """Whether an entry is of this release."""
    return not entry.releases or SpecifierSet(entry.releases).contains(release)


def judged(result: Result, entry: ExpectedFailure) -> Result:
    """What an expected failure makes of a result: strict, and only until it expires."""
    replace = msgspec.structs.replace
    if entry.expires is not None and entry.expires < datetime.date.today():
        note = f"expected to fail until {entry.expires}, which is over: {entry.reason}"
        outcome = "fail" if result.outcome in ("pass", "fail") else result.outcome
        return replace(result, outcome=outcome, message=f"{note}\n{result.message}".strip())
    if result.outcome == "fail":
        return replace(result, outcome="expected", reason=entry.reason)
    if result.outcome == "pass":
        note = f"it was expected to fail ({entry.reason}) and passes: remove the entry"
        return replace(result, outcome="fail", message=note)
    if result.outcome == "skip":
        note = f"{result.reason} (it is listed as an expected failure, which has no effect here)"
        return replace(result, reason=note)
    return result
