"""The wording of findings, from the sentences of their rules; and the short spelling of a symbol.

The engine says facts (:class:`~sglang_contracts.verify.findings.finding.Finding`), the record of
each rule (:class:`~sglang_contracts.verify.rules.rule.Rule`) holds its sentences; here they are put
together. A rule without a record is worded by its ``detail``: a report never crashes on one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from sglang_contracts.verify.findings.finding import (
    Finding,
    Report,
    Silenced,
    Unresolved,
    Verdict,
)
from sglang_contracts.verify.rules.clause_rules import CLAUSE_RULES
from sglang_contracts.verify.rules.rule import Rule
from sglang_contracts.verify.rules.unresolved import REASONS
from sglang_contracts.verify.silences.reasons import SILENCES

if TYPE_CHECKING:
    from sglang_contracts.verify.rules.cause import Failure

_GENERIC = "{rule}: {name}"
"""What is said of a rule that is in no record."""


def _rule(finding: Finding) -> Rule | None:
    return CLAUSE_RULES.get(finding.rule) or _plugin_rules().get(finding.rule)


def _plugin_rules() -> Mapping[str, Rule]:
    """Rules that findings on plugins have; they bring the engine, which made such a finding."""
    from sglang_contracts.verify.rules.registry import RULES

    return RULES


def printable(text: str) -> str:
    """One line without control characters: a plugin's text must not steer a terminal."""
    kept = "".join(char if char.isprintable() or char.isspace() else "\ufffd" for char in text)
    return " ".join(kept.split())


def short(symbol: str) -> str:
    """A symbol without its module: ``Class.attr`` of ``m:Class.attr``, ``--x`` of ``flag:--x``."""
    if symbol.startswith(("flag:", "env:")):
        return symbol.partition(":")[2]
    module, colon, qual = symbol.partition(":")
    return qual if colon else module


def module_of(symbol: str) -> str:
    """The module of a symbol; empty for flags and environment variables."""
    if symbol.startswith(("flag:", "env:")):
        return ""
    return symbol.partition(":")[0]


def split(symbol: str) -> tuple[str, str]:
    """Owner and last part of a short symbol: ``Class.attr``, ``func(param)``, ``--flag(value)``."""
    name = short(symbol)
    match = re.fullmatch(r"(.+)\((.+)\)", name)
    if match:
        return match[1].removesuffix(".__init__"), match[2]
    owner, _, last = name.rpartition(".")
    return owner, last


def since(finding: Finding, brief: bool = False) -> str:
    """``since 0.5.13 (worked until 0.5.12.post1)``, as far as it is known; may be empty.

    Args:
        finding: The finding.
        brief: Leave out the last release that worked where the first that does not is known.
    """
    rule = _rule(finding)
    if (rule is not None and not rule.dated) or _is_early(finding):
        return ""
    if not finding.first_broken:
        return f"worked until {finding.last_ok}" if finding.last_ok else ""
    until = f" (worked until {finding.last_ok})" if finding.last_ok and not brief else ""
    return f"since {finding.first_broken}{until}"


def _is_early(finding: Finding) -> bool:
    """Whether the release is older than what the plugin uses: nothing was lost."""
    has_history = finding.first_broken is not None and finding.last_ok is None
    rule = _rule(finding)
    return has_history and rule is not None and bool(rule.early)


def _is_whole(finding: Finding) -> bool:
    """Whether a finding on a call names the function, and neither a parameter nor a field."""
    rule = _rule(finding)
    if rule is None or not rule.whole:
        return False
    name = short(finding.symbol).removesuffix(".__init__").rpartition(".")[2]
    return (finding.old or finding.new or "").startswith(f"{name}(")


def what(finding: Finding) -> str:
    """What happened, in one clause without the release and without the fix."""
    rule = _rule(finding)
    owner, last = split(finding.symbol)
    text = _sentence(finding, rule).format(
        rule=finding.rule,
        name=short(finding.symbol),
        module=module_of(finding.symbol) or "SGLang",
        owner=owner or short(finding.symbol),
        last=last,
    )
    if finding.detail:
        text += f": {finding.detail}"
    elif finding.old and finding.new:
        if finding.clause and finding.rule not in CLAUSE_RULES:  # a contract's sentences
            text += f": before, {finding.old}; now, {finding.new}"
        else:
            text += f": was {finding.old}, is {finding.new}"
    return printable(text)


def _sentence(finding: Finding, rule: Rule | None) -> str:
    """Which of a rule's sentences fits a finding."""
    if rule is None:
        return _GENERIC
    if _is_whole(finding):
        return rule.whole
    if rule.never and finding.first_broken is None and finding.last_ok is None:
        return rule.never
    return rule.early if _is_early(finding) else rule.what


def fix(finding: Finding) -> str:
    """What to do about it; empty where nothing can be said."""
    rule = _rule(finding)
    to_do = "use {to}" if rule is None else rule.fix
    if finding.suggestion is None:
        if rule is None or _is_whole(finding):
            return ""
        return printable(rule.otherwise.format(last=split(finding.symbol)[1]))
    suggested, note = finding.suggestion.symbol, finding.suggestion.note
    if " " in suggested and finding.suggestion.evidence == "contract":
        return printable(f"{suggested} ({note})" if note else suggested)  # advice, no symbol
    if finding.suggestion.evidence == "signature" and note:  # the note is the whole signature
        called = finding.role == "call" and rule is not None and rule.argument
        return printable(f"call {note}" if called else to_do.format(to=note))
    if rule is not None and rule.argument and not note:
        suggested = re.sub(r"^[\w.]+\((\w+)\)$", r"\1", suggested)
    suggested = suggested.removeprefix("flag:").removeprefix("env:")
    if note.endswith(f":{suggested}"):  # the note is the whole spelling of the suggestion
        if module_of(note) != module_of(finding.symbol):
            suggested = note
        note = ""
    text = to_do.format(to=suggested)
    return printable(f"{text} ({note})" if note else text)


def silenced_message(silenced: Silenced) -> str:
    """What is not said of a place, and why."""
    says = _failures()[silenced.what].says if silenced.what in _failures() else "{name}"
    told = says.format(name=short(silenced.symbol), module=module_of(silenced.symbol) or "SGLang")
    reason = SILENCES.get(silenced.reason)
    why = reason.says if reason is not None else silenced.reason
    return printable(f"{told}; {why} [{silenced.reason}]")


def _failures() -> Mapping[str, Failure]:
    """How uses fail; they bring the engine, which found it."""
    from sglang_contracts.verify.rules.registry import FAILURES

    return FAILURES


def no_range(report: Report) -> str:
    """What ``matrix`` says where it has no compatible release to name."""
    if any(entry.verdict is Verdict.UNKNOWN for entry in report.releases):
        return "no recorded release is known to be compatible"
    return "compatible with no recorded release"


def evidence(finding: Finding) -> str:
    """Where the suggestion comes from, for people; empty without one."""
    return finding.suggestion.evidence if finding.suggestion else ""


def message(finding: Finding) -> str:
    """The whole sentence: what, since when, what to do, on what evidence."""
    parts = what(finding)
    when = since(finding)
    if when:
        parts += f" {when}" if when.startswith("since") else f", {when}"
    to_do = fix(finding)
    if to_do:
        parts += f"; {to_do}"
        if evidence(finding):
            parts += f" [{evidence(finding)}]"
    if finding.by_name:
        parts += "; rests on the object's name alone"
    return parts


def open_end(each: Unresolved) -> str:
    """What could not be resolved, why, and where."""
    place = f"{each.location.file}:{each.location.line}"
    return printable(f"{each.symbol} {REASONS.get(each.reason, each.reason)} ({place})")
