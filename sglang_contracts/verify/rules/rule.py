"""Rules as data: what a rule is called, how it is told, and how the rest of the tool treats it."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from sglang_contracts.verify.findings.finding import Severity


class Edit(enum.Enum):
    """Which edit ``upgrade`` can write out where a rule reports a line."""

    NONE = "none"
    IMPORT = "import"
    """Import it from where it is now."""
    RENAME = "rename"
    """Put the new name where the old one stands."""


@dataclass(frozen=True, kw_only=True)
class Rule:
    """One rule. What has no default has to be decided for each.

    In the sentences ``{name}`` is the short symbol, ``{module}`` its module, ``{owner}`` all
    but the last part, ``{last}`` the last part, ``{to}`` what is suggested.
    """

    id: str
    """Its name in reports, settings and comments; never changed, never used again."""
    what: str
    """What happened."""
    fix: str
    """What to do, with a suggestion."""
    page: str
    """The file beside the rules with its ``explain`` page; empty: it has none."""
    severity: Severity
    """How bad it is at worst."""
    role: str
    """How the plugin relies on it, where a finding does not say otherwise (``Finding.role``)."""
    absent: bool
    """Whether it is about what a release lacks; else about what it asks for, or gives."""
    merges_with: frozenset[str]
    """Rules that already say it where they are reported on the same symbol and places."""
    edit: Edit
    """What ``upgrade`` can write."""
    argument: bool
    """Whether it is about one argument of a call."""
    dated: bool = True
    """Whether it is told since when."""
    otherwise: str = ""
    """What to do where nothing is suggested."""
    early: str = ""
    """``what`` where no earlier release had it either: the plugin is newer than the release."""
    never: str = ""
    """``what`` where no recorded release has it."""
    whole: str = ""
    """``what`` of a function, none of whose parameters is to blame alone."""


ALONE: frozenset[str] = frozenset()
"""Merges with no other rule."""

SAID_BY_ITS_PATCH_OR_OVERRIDE = frozenset({"patch-target-missing", "override-orphaned"})
"""What is read before it is patched is one break, and so is a lost method that is overridden."""

COMES_WITH, NOT_ANY_MORE = "comes with {release}", "not any more from {release} on"
"""What a finding says of any rule where the plugin is newer than the release."""
