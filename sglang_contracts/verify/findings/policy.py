"""What of a report counts: ignored, accepted, known already; and the exit code.

All of it is a pure function over values. What a maintainer has judged (an ignore comment, an
accepted finding) is taken out and the verdict is that of the rest. What is merely *known* (a
baseline, ``--only-new``) is not shown and does not fail the run, but the verdict stays: a broken
release does not become compatible because one has got used to it.
"""

from __future__ import annotations

import datetime
import fnmatch
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import msgspec

from sglang_contracts.plugin.reading.ignore_comments import Ignore
from sglang_contracts.plugin.reading.settings import Accept
from sglang_contracts.verify.findings.baseline import Entry, Matcher
from sglang_contracts.verify.findings.finding import (
    Finding,
    Location,
    Note,
    ReleaseReport,
    Report,
    Severity,
    Verdict,
)

THRESHOLDS = ("error", "warning", "note", "never")
"""What ``--fail-on`` may be."""


@dataclass(frozen=True)
class Policy:
    """What a report is held against."""

    accept: Sequence[Accept] = ()
    ignores: Sequence[Ignore] = ()
    baseline: Sequence[Entry] | None = None
    """Entries of a baseline file; None: there is none."""
    baseline_name: str = "the baseline"
    """How to name that file to the user."""
    baseline_release: ReleaseReport | None = None
    """Findings of ``--baseline V``."""
    settings_file: str = "pyproject.toml"
    """Where accepted findings stand, for the notes about them."""
    only_new: bool = False
    """Only findings whose first broken release is the one they are reported for."""
    fail_on: str = "error"
    strict: bool = False
    """Warnings fail, too, and so does a release of which nothing is known."""
    today: datetime.date = field(default_factory=datetime.date.today)
    rules: Sequence[str] = ()
    """Names of rules, to tell a comment that names none; empty: any may be."""


@dataclass(frozen=True)
class Outcome:
    """A report after its policy."""

    report: Report
    exit_code: int
    """0 or 1."""


def select(
    report: Report, policy: Policy, everywhere: Callable[[], Report] | None = None
) -> Outcome:
    """Apply a policy to what was found.

    Args:
        report: What was found in the selected releases.
        policy: What to take out, and what fails.
        everywhere: Gives the report over all recorded releases. It is called only if an entry
            matched nothing, to tell a stale one from one that speaks of other releases.

    Returns:
        The report without what is taken out; ``facts["hidden"]`` counts it by reason, and a note
        that fails stands for each entry that is expired or matches nothing.
    """
    run = _Run(policy)
    releases = tuple(run.release(entry) for entry in report.releases)
    if everywhere is not None and run.has_unused():
        run.counting = False
        for entry in everywhere().releases:
            run.release(entry)
    notes = (*report.notes, *run.notes())
    facts = dict(report.facts)
    if run.hidden:
        facts["hidden"] = dict(sorted(run.hidden.items()))
    result = msgspec.structs.replace(report, releases=releases, notes=notes, facts=facts)
    return Outcome(result, exit_code(result, policy.fail_on, policy.strict))


def exit_code(report: Report, fail_on: str = "error", strict: bool = False) -> int:
    """1 if something in the report fails the run, else 0.

    Args:
        report: Without what does not count.
        fail_on: The least severity that fails, or ``never``.
        strict: Warnings and unknown verdicts fail, too.
    """
    if fail_on == "never":
        return 0
    least = Severity(fail_on).rank
    if strict:
        least = min(least, Severity.WARNING.rank)
        if any(entry.verdict is Verdict.UNKNOWN for entry in report.releases):
            return 1
    if any(note.fails for note in report.notes):
        return 1
    return int(any(f.severity.rank >= least for entry in report.releases for f in entry.findings))


_Known = dict[tuple[str, str, Location], str]
"""Rule, symbol and place of what is not new, and why it is not."""


class _Run:
    """One application of a policy: remembers which entries were of use."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self.hidden: Counter[str] = Counter()
        self.counting = True
        self._used: set[int] = set()
        self._matcher = None if policy.baseline is None else Matcher(policy.baseline)
        self._current = [
            entry
            for entry in policy.accept
            if entry.expires is None or entry.expires >= policy.today
        ]
        self._ignores: dict[str, list[Ignore]] = {}
        for ignore in policy.ignores:
            self._ignores.setdefault(ignore.file, []).append(ignore)
        self._counted: set[tuple[str, Finding]] = set()

    def release(self, entry: ReleaseReport) -> ReleaseReport:
        """One release without what is taken out."""
        judged = [left for f in entry.findings if (left := self._judged(f)) is not None]
        verdict = entry.verdict
        if verdict is Verdict.BROKEN and not any(f.severity is Severity.ERROR for f in judged):
            verdict = Verdict.COMPATIBLE if entry.known else Verdict.UNKNOWN
        known = self._known(judged)
        shown = [left for f in judged if (left := self._new(f, entry.release, known)) is not None]
        return msgspec.structs.replace(entry, verdict=verdict, findings=tuple(shown))

    def _judged(self, finding: Finding) -> Finding | None:
        """The finding without what comments and accepted findings take out of it."""
        ignored = [place for place in finding.locations if self._is_ignored(finding.rule, place)]
        left = _without(finding, ignored)
        if left is None:
            self._hide("ignored by a comment", finding)
            return None
        accepted = [
            place
            for place in left.locations or (Location("", 0),)
            if self._is_accepted(left, place)
        ]
        left = _without(left, accepted)
        if left is None:
            self._hide("accepted", finding)
        return left

    def _known(self, findings: Sequence[Finding]) -> _Known:
        """What the baseline file, and the release given as baseline, have of a release."""
        known: _Known = {}
        if self._matcher is not None:
            for key in self._matcher.covered(findings):
                known[key] = "in the baseline"
        if self.policy.baseline_release is not None:
            base = self.policy.baseline_release
            for finding in base.findings:
                for place in finding.locations or (Location("", 0),):
                    key = (finding.rule, finding.symbol, place)
                    known.setdefault(key, f"in {base.release} already")
        return known

    def _new(self, finding: Finding, release: str, known: _Known) -> Finding | None:
        """The finding without what is known already."""
        if self.policy.only_new and finding.first_broken not in (None, release):
            self._hide("not new in its release", finding)
            return None
        reasons = {
            place: known[finding.rule, finding.symbol, place]
            for place in finding.locations or (Location("", 0),)
            if (finding.rule, finding.symbol, place) in known
            and finding.severity is not Severity.NOTE
        }
        left = _without(finding, reasons)
        if left is None:
            self._hide(next(iter(reasons.values())), finding)
        return left

    def _hide(self, why: str, finding: Finding) -> None:
        if self.counting and (why, finding) not in self._counted:
            self._counted.add((why, finding))
            self.hidden[why] += 1

    def _is_ignored(self, rule: str, place: Location) -> bool:
        hit = False
        for ignore in self._ignores.get(place.file, ()):
            if ignore.first <= place.line <= ignore.last and (
                rule in ignore.rules or "*" in ignore.rules
            ):
                self._used.add(id(ignore))
                hit = True
        return hit

    def _is_accepted(self, finding: Finding, place: Location) -> bool:
        hit = False
        for entry in self._current:
            if (
                entry.rule in ("*", finding.rule)
                and _matches(entry.symbol, finding.symbol)
                and (not entry.file or fnmatch.fnmatchcase(place.file, entry.file))
            ):
                self._used.add(id(entry))
                hit = True
        return hit

    def has_unused(self) -> bool:
        """Whether some entry has matched nothing so far."""
        return (
            any(id(entry) not in self._used for entry in self._current)
            or any(id(ignore) not in self._used for ignore in self.policy.ignores)
            or (self._matcher is not None and bool(self._matcher.unused))
        )

    def notes(self) -> list[Note]:
        """One failing note for each entry that is expired, broken or of no use."""
        return [*self._accept_notes(), *self._ignore_notes(), *self._baseline_notes()]

    def _accept_notes(self) -> Iterable[Note]:
        for entry in self.policy.accept:
            place = Location(self.policy.settings_file, entry.line) if entry.line else None
            about = f"accepted finding {entry.rule} on {entry.symbol}"
            if entry.expires is not None and entry.expires < self.policy.today:
                yield Note(
                    f"{about} expired on {entry.expires}",
                    place,
                    "mend it, or set a later date",
                    True,
                )
            elif id(entry) not in self._used:
                yield Note(f"{about} matches nothing", place, "remove the entry", True)

    def _ignore_notes(self) -> Iterable[Note]:
        for ignore in self.policy.ignores:
            place = Location(ignore.file, ignore.line)
            form = "write # sglang-contracts: ignore[rule] reason"
            unknown = [
                rule
                for rule in ignore.rules
                if self.policy.rules and rule != "*" and rule not in self.policy.rules
            ]
            if not ignore.rules:
                yield Note("this comment is not understood", place, form, True)
            elif unknown:
                yield Note(f"there is no rule {', '.join(unknown)}", place, form, True)
            elif not ignore.reason:
                yield Note("an ignore comment without a reason", place, form, True)
            elif id(ignore) not in self._used:
                rules = ",".join(ignore.rules)
                yield Note(f"ignore[{rules}] matches nothing", place, "remove the comment", True)

    def _baseline_notes(self) -> Iterable[Note]:
        unused = self._matcher.unused if self._matcher is not None else []
        for entry in unused:
            place = f" at {entry.file}:{entry.line}" if entry.file else ""
            yield Note(
                f"{self.policy.baseline_name}: {entry.rule} on {entry.symbol}{place} "
                "matches nothing",
                None,
                "it is mended: write the baseline anew with --write-baseline",
                True,
            )


def _without(finding: Finding, places: Iterable[Location]) -> Finding | None:
    """The finding without these places; None if none is left."""
    gone = set(places)
    if not gone:
        return finding
    left = tuple(place for place in finding.locations if place not in gone)
    return msgspec.structs.replace(finding, locations=left) if left else None


def _matches(pattern: str, symbol: str) -> bool:
    """Whether an accepted finding's symbol is this one; only ``*`` is special (``[`` is not)."""
    if "*" not in pattern:
        return pattern == symbol
    return fnmatch.fnmatchcase(symbol, pattern.replace("[", "[[]").replace("?", "[?]"))
