"""Causes as data: what detects one in a release, how it fails, and the rules that tell it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from sglang_contracts.plugin.ir.records import File, Use, UseKind
from sglang_contracts.verify.answers.outcome import Outcome
from sglang_contracts.verify.findings.finding import Finding
from sglang_contracts.verify.rules.case import Case, Judging
from sglang_contracts.verify.rules.detection import Detection
from sglang_contracts.verify.rules.rule import Rule

Detect = Callable[[Detection, int, File, Use], Outcome]
"""How a use of a file (by its index) fares in the present release."""
Judge = Callable[[Judging, Case], Finding | None]
"""What makes a finding of a broken use; None where history says that it is none."""

NOTHING: frozenset[str] = frozenset()
"""No ``except`` clause catches it: nothing is raised where the plugin stands."""


@dataclass(frozen=True, kw_only=True)
class Failure:
    """One way in which a use fails."""

    what: str
    """Its name in :attr:`~sglang_contracts.verify.answers.outcome.Outcome.what`."""
    says: str
    """What happens, in a few words, where nothing more is said: ``{name}`` is the short symbol,
    ``{module}`` its module."""
    catches: frozenset[str]
    """Exceptions whose ``except`` clauses catch it."""
    judge: Judge | None
    """None: it is no failure of one use, and its findings are made for a class as a whole."""


@dataclass(frozen=True, kw_only=True)
class Cause:
    """What a release can do to a plugin, all in one place."""

    detects: Mapping[UseKind, Detect]
    """The kinds of uses that it looks at; UNKNOWN passes a use on to the next cause."""
    failures: tuple[Failure, ...]
    """How the uses that it breaks fail."""
    rules: tuple[Rule, ...]
    """The rules that are first of all its own; others may report under them, too."""
