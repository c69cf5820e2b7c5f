"""The compatible range of a plugin, and the requirement to paste into its metadata."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from packaging.version import Version

from sglang_contracts.verify.findings.finding import Verdict

MAX_EXCLUDED = 4
"""A requirement excludes at most so many releases one by one; beyond, it covers the newest range
only, which is what a reader can check."""


@dataclass(frozen=True)
class Interval:
    """Neighbouring recorded releases, all compatible."""

    first: str
    last: str
    count: int
    before: str | None
    """The first release after it, which is not compatible; None: it ends with the newest."""


def intervals(verdicts: Mapping[str, Verdict]) -> tuple[Interval, ...]:
    """The runs of compatible releases, ascending. Unknown is never compatible.

    Args:
        verdicts: Recorded release → verdict; any order.
    """
    ordered = sorted(verdicts, key=Version)
    found: list[Interval] = []
    run: list[str] = []
    for release in [*ordered, None]:
        if release is not None and verdicts[release] is Verdict.COMPATIBLE:
            run.append(release)
            continue
        if run:
            found.append(Interval(run[0], run[-1], len(run), release))
            run = []
    return tuple(found)


def requirement(verdicts: Mapping[str, Verdict], name: str = "sglang") -> str | None:
    """A requirement that admits only compatible releases, for ``dependencies`` of the plugin.

    By PEP 440 ``<=0.5.12`` leaves out 0.5.12.post1 and ``>0.5.12`` does, too, so an upper bound is
    always ``<`` the first release that is not compatible. Where the newest recorded release is
    compatible the bound is ``<=`` it: what comes after has been seen by nobody.

    Args:
        verdicts: Recorded release → verdict; any order. Releases that exist but could not be
            recorded belong in it, too, as unknown.
        name: Distribution that is required.

    Returns:
        For example ``sglang>=0.5.3,!=0.5.4.post1,<0.5.13``; None if no release is compatible. It
        admits every compatible release, unless these lie further apart than
        :data:`MAX_EXCLUDED` releases: then those of the newest range.
    """
    runs = intervals(verdicts)
    if not runs:
        return None
    ordered = sorted(verdicts, key=Version)
    first, excluded = runs[-1].first, list[str]()
    for run in reversed(runs[:-1]):
        gap = ordered[ordered.index(run.last) + 1 : ordered.index(first)]
        if len(gap) + len(excluded) > MAX_EXCLUDED:
            break
        excluded = gap + excluded
        first = run.first
    last = runs[-1]
    upper = f"<={last.last}" if last.before is None else f"<{last.before}"
    return name + ",".join([f">={first}", *(f"!={release}" for release in excluded), upper])


def describe(runs: Sequence[Interval]) -> list[str]:
    """The runs in words: ``0.5.3 ... 0.5.12.post1``, or the one release."""
    return [run.first if run.count == 1 else f"{run.first} ... {run.last}" for run in runs]
