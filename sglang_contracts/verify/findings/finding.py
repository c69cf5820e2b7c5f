"""A finding is a value: what a release does not honour, where, since when, and what to use.

It never holds a formatted sentence about the plugin; :mod:`sglang_contracts.report` words it. A
reporter cannot change a verdict.
"""

from __future__ import annotations

import enum
from collections import Counter

import msgspec

VERSION = "sglang:__version__"
"""The symbol of findings on a version comparison itself, whatever it guards."""


class Severity(enum.Enum):
    """How bad a finding is; the order is that of :attr:`rank`."""

    ERROR = "error"
    """It breaks."""
    WARNING = "warning"
    """It will not do what it did."""
    NOTE = "note"
    """Guarded, or for information."""

    @property
    def rank(self) -> int:
        """0 for a note, 2 for an error."""
        return {"note": 0, "warning": 1, "error": 2}[self.value]


class Verdict(enum.Enum):
    """What a release is to a plugin. Unknown is never compatible."""

    COMPATIBLE = "compatible"
    BROKEN = "broken"
    UNKNOWN = "unknown"


class Location(msgspec.Struct, frozen=True, order=True):
    """A place in the plugin (or in a contract file)."""

    file: str
    """Relative to the plugin's root, with forward slashes."""
    line: int
    """From 1."""
    column: int = 0
    """From 1; 0 where it is not known."""


class Suggestion(msgspec.Struct, frozen=True, omit_defaults=True):
    """What to use instead, and why we think so."""

    symbol: str
    """A symbol of the release, or the new spelling of a name."""
    evidence: str
    """One of ``contract``, ``re-export``, ``alias``, ``moved``, ``same-annotation``,
    ``same-position``, ``upstream-message``, ``upstream-body``, ``similar-name``, ``signature``."""
    note: str = ""


class Finding(msgspec.Struct, frozen=True, omit_defaults=True):
    """One use or clause that a release does not honour."""

    rule: str
    severity: Severity
    symbol: str
    """``module:Qual.name``, ``function(parameter)``, ``flag:--name``, ``env:NAME``."""
    locations: tuple[Location, ...] = ()
    last_ok: str | None = None
    first_broken: str | None = None
    suggestion: Suggestion | None = None
    role: str = "use"
    """How the plugin relies on it: ``use``, ``call``, ``override``, ``subclass``, ``patch``,
    ``hook``, ``guard``, ``launch``, ``clause``."""
    old: str = ""
    """What it was (a signature, an annotation, a value)."""
    new: str = ""
    """What it is now."""
    detail: str = ""
    """The fact in a few words, without the symbol: "takes no parameter 'x' any more"."""
    by_name: bool = False
    """It rests on the conventional name of an object alone (``known_as``)."""
    clause: str = ""
    """The contract clause it comes from, ``contract-id/clause-id``; empty: from the surface."""
    softened: str = ""
    """Why it is less grave than it would be: an id of
    :data:`sglang_contracts.verify.silences.reasons.SILENCES`; empty: it is not."""


class Unresolved(msgspec.Struct, frozen=True, order=True):
    """Something a plugin relies on of which nothing can be said, so that a verdict is unknown."""

    reason: str
    """An id of :data:`sglang_contracts.verify.rules.unresolved.REASONS`."""
    symbol: str
    location: Location


class Silenced(msgspec.Struct, frozen=True, order=True):
    """Something found of which nothing is said, and why."""

    reason: str
    """An id of :data:`sglang_contracts.verify.silences.reasons.SILENCES`."""
    symbol: str
    location: Location
    what: str = ""
    """How it would fail: a name of :data:`sglang_contracts.verify.rules.registry.FAILURES`."""


class LookedAt(msgspec.Struct, frozen=True):
    """How much of what a plugin takes from SGLang could be told in a release, in symbols."""

    resolved: int
    """Found, or found to be gone."""
    by_name: int
    """The same, but only by the conventional name of an object."""
    unresolved: int
    """Nothing can be said of them."""


class ReleaseReport(msgspec.Struct, frozen=True):
    """All findings for one release."""

    release: str
    verdict: Verdict
    findings: tuple[Finding, ...] = ()
    known: bool = True
    """Whether all of the plugin was looked at: else it is unknown even without its findings."""
    unresolved: tuple[Unresolved, ...] = ()
    """What it relies on and cannot be told; with any it is not known."""
    silenced: tuple[Silenced, ...] = ()
    """What was found and is not reported."""
    looked_at: LookedAt | None = None
    """How much could be told; None: that was not counted."""

    @property
    def silences(self) -> dict[str, int]:
        """Reason → the number of places that it keeps quiet, or makes less grave."""
        counted = Counter(each.reason for each in self.silenced)
        for finding in self.findings:
            if finding.softened:
                counted[finding.softened] += len(finding.locations)
        return dict(sorted(counted.items()))


class Note(msgspec.Struct, frozen=True, omit_defaults=True):
    """Something about the run, not about a release: a skipped file, an entry without a match."""

    text: str
    location: Location | None = None
    hint: str = ""
    fails: bool = False
    """Whether the run must not succeed because of it: a stale or expired entry (exit 1)."""
    unread: str = ""
    """The file that was skipped though it may use SGLang, so that no release can be called
    compatible; empty: the note is about something else."""


class PluginInfo(msgspec.Struct, frozen=True):
    """What was checked."""

    name: str
    version: str
    path: str


class Report(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a reporter is given; the JSON format is this frame."""

    command: str
    """Name of the command that made it."""
    releases: tuple[ReleaseReport, ...] = ()
    plugin: PluginInfo | None = None
    notes: tuple[Note, ...] = ()
    facts: dict[str, object] = {}
    """Command-specific further content (counts, ranges, coverage): documented in its schema."""

    @property
    def unread(self) -> tuple[Note, ...]:
        """The notes on files that were skipped though they may use SGLang."""
        return tuple(note for note in self.notes if note.unread)


def with_changes(finding: Finding, **changes: object) -> Finding:
    """The same finding, but for some of its fields."""
    return msgspec.structs.replace(finding, **changes)
