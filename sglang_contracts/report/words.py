"""The wording of findings: a table of rules, and the short spelling of a symbol.

The engine says facts (:class:`~sglang_contracts.verify.findings.finding.Finding`); this table says
them to people. A rule that is not in the table is worded by its ``detail``, so that a new rule can
never crash a report; a test names rules without wording.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from sglang_contracts.verify.findings.finding import Finding, Report, Verdict


@dataclass(frozen=True)
class Wording:
    """How one rule is told."""

    what: str
    """What happened. ``{name}`` short symbol, ``{module}``, ``{owner}`` all but the last part,
    ``{last}`` the last part, ``{old}``, ``{new}``, ``{detail}``."""
    fix: str = "use {to}"
    """With a suggestion: what to do. ``{to}`` is the suggested symbol."""
    otherwise: str = ""
    """What to do where nothing is suggested."""
    dated: bool = True
    """Whether it is told since when."""
    early: str = ""
    """``what`` where no earlier release had it either: the plugin is newer than the release."""
    never: str = ""
    """``what`` where no recorded release has it."""
    whole: str = ""
    """``what`` of a function, none of whose parameters is to blame alone."""


WORDINGS: dict[str, Wording] = {
    "module-removed": Wording(
        "module {name} is gone", "import {to}", early="module {name} is not there yet"
    ),
    "symbol-removed": Wording(
        "{name} is gone from {module}", "use {to}", early="{name} is not in {module} yet"
    ),
    "symbol-moved": Wording(
        "{name} is no longer in {module}", "import {to}", early="{name} is not in {module} yet"
    ),
    "field-removed": Wording("{name} is gone", "use {to}", early="{name} is not there yet"),
    "field-renamed": Wording(
        "{name} has another name", "read {to}", early="{name} has another name yet"
    ),
    "method-removed": Wording("{name}() is gone", "call {to}", early="{name}() is not there yet"),
    "method-renamed": Wording(
        "{name}() has another name", "use {to}", early="{name}() has another name yet"
    ),
    "enum-member-removed": Wording(
        "enum member {name} is gone", "use {to}", early="enum member {name} is not there yet"
    ),
    "parameter-removed": Wording(
        "{owner}() takes no {last} any more",
        "pass {to}",
        "leave it out for these releases",
        early="{owner}() takes no {last} yet",
        whole="{name}() cannot be called in this form",
    ),
    "parameter-renamed": Wording(
        "{last} of {owner}() has another name",
        "pass {to}",
        early="{last} of {owner}() has another name yet",
    ),
    "parameter-required": Wording(
        "{owner}() requires {last}", "pass {to}", "pass it where the release has it"
    ),
    "parameter-moved": Wording(
        "{last} of {owner}() stands in another place", "call it as {to}", "pass it by its name"
    ),
    "keyword-only": Wording(
        "{last} of {owner}() can be passed by keyword only", "pass {to}", "pass it by its name"
    ),
    "return-changed": Wording("{name}() returns something else", "take {to}"),
    "override-signature": Wording(
        "an override of {name}() cannot take what SGLang passes",
        "give it {to}",
        "accept the new parameters, or take *args and **kwargs",
    ),
    "override-orphaned": Wording(
        "nothing in SGLang calls an override of {name}() any more",
        "override {to}",
        early="nothing in SGLang calls an override of {name}() yet",
    ),
    "hook-missing": Wording(
        "SGLang needs {name} from the plugin's class",
        "provide it like {to}",
        "define {last}() in the plugin's class",
    ),
    "patch-target-missing": Wording(
        "the target of the hook or patch, {name}, is gone: it would silently not apply",
        "patch {to}",
        early="the target of the hook or patch, {name}, is not there yet: it would silently not "
        "apply",
    ),
    "server-arg-removed": Wording(
        "server argument {name} is gone",
        "use {to}",
        early="server argument {name} is not there yet",
        never="no recorded release takes {name}",
    ),
    "env-removed": Wording(
        "SGLang reads the variable {name} no more",
        "set {to}",
        early="SGLang does not read the variable {name} yet",
        never="no recorded release reads the variable {name}",
    ),
    "dtype-changed": Wording("{name} is of another type", "use {to}", "convert it"),
    "registry-removed": Wording(
        "{name} is not registered any more", "use {to}", early="{name} is not registered yet"
    ),
    "obligation-unmet": Wording(
        "{name} is expected by SGLang",
        "provide it like {to}",
        "define it or set self.{last} in __init__",
    ),
    "guard-wrong": Wording("the guard around {name} is wrong here", "use {to}", dated=False),
    "retired": Wording("{name} still imports, but calling it raises", "use {to}"),
    "behaviour-changed": Wording("{name} means something else", "use {to}"),
}

CLAUSE_WORDINGS: dict[str, Wording] = {
    # What verify and diff say of clauses; no plugin can have such a finding.
    "clause-bounds": Wording("{name}", "run {to}", dated=False),
    "clause-signature": Wording("{name}()", "write {to}", dated=False),
    "clause-replacement": Wording("{name}", "write {to}", dated=False),
    "removed": Wording("{name} was removed", "use {to}", dated=False),
    "changed": Wording("{name} changed", "use {to}", dated=False),
    "added": Wording("{name} was added", "use {to}", dated=False),
    "newly-expected": Wording("{name} is newly expected of a plugin's object", dated=False),
}

_GENERIC = Wording("{rule}: {name}")


def _wording(rule: str) -> Wording:
    return WORDINGS.get(rule) or CLAUSE_WORDINGS.get(rule) or _GENERIC


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
    if not _wording(finding.rule).dated or _is_early(finding):
        return ""
    if not finding.first_broken:
        return f"worked until {finding.last_ok}" if finding.last_ok else ""
    until = f" (worked until {finding.last_ok})" if finding.last_ok and not brief else ""
    return f"since {finding.first_broken}{until}"


def _is_early(finding: Finding) -> bool:
    """Whether the release is older than what the plugin uses: nothing was lost."""
    has_history = finding.first_broken is not None and finding.last_ok is None
    return has_history and bool(_wording(finding.rule).early)


def _is_whole(finding: Finding) -> bool:
    """Whether a finding on a call names the function, and neither a parameter nor a field."""
    if not _wording(finding.rule).whole:
        return False
    name = short(finding.symbol).removesuffix(".__init__").rpartition(".")[2]
    return (finding.old or finding.new or "").startswith(f"{name}(")


def what(finding: Finding) -> str:
    """What happened, in one clause without the release and without the fix."""
    wording = _wording(finding.rule)
    owner, last = split(finding.symbol)
    chosen = wording.early if _is_early(finding) else wording.what
    if wording.never and finding.first_broken is None and finding.last_ok is None:
        chosen = wording.never
    if _is_whole(finding):
        chosen = wording.whole
    text = chosen.format(
        rule=finding.rule,
        name=short(finding.symbol),
        module=module_of(finding.symbol) or "SGLang",
        owner=owner or short(finding.symbol),
        last=last,
    )
    if finding.detail:
        text += f": {finding.detail}"
    elif finding.old and finding.new:
        if finding.clause and finding.rule in WORDINGS:  # a contract's sentences
            text += f": before, {finding.old}; now, {finding.new}"
        else:
            text += f": was {finding.old}, is {finding.new}"
    return printable(text)


def fix(finding: Finding) -> str:
    """What to do about it; empty where nothing can be said."""
    wording = _wording(finding.rule)
    if finding.suggestion is None:
        if _is_whole(finding):
            return ""
        return printable(wording.otherwise.format(last=split(finding.symbol)[1]))
    suggested, note = finding.suggestion.symbol, finding.suggestion.note
    if " " in suggested and finding.suggestion.evidence == "contract":
        return printable(f"{suggested} ({note})" if note else suggested)  # advice, no symbol
    if finding.suggestion.evidence == "signature" and note:  # the note is the whole signature
        called = finding.role == "call" and finding.rule.startswith(("parameter-", "keyword-"))
        return printable(f"call {note}" if called else wording.fix.format(to=note))
    if finding.rule.startswith("parameter-") and not note:
        suggested = re.sub(r"^[\w.]+\((\w+)\)$", r"\1", suggested)
    suggested = suggested.removeprefix("flag:").removeprefix("env:")
    if note.endswith(f":{suggested}"):  # the note is the whole spelling of the suggestion
        if module_of(note) != module_of(finding.symbol):
            suggested = note
        note = ""
    text = wording.fix.format(to=suggested)
    return printable(f"{text} ({note})" if note else text)


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
