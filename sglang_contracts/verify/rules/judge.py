"""From the history of checks to findings: which judge is asked, in which order."""

from __future__ import annotations

from typing import NamedTuple

from sglang_contracts.plugin.ir.records import UseKind
from sglang_contracts.verify.findings.finding import Finding, Silenced, Unresolved
from sglang_contracts.verify.rules import (
    attribute_unset,
    hook_missing,
    member_gone,
    never_recorded,
    version_guard_wrong,
)
from sglang_contracts.verify.rules.case import Case, Judging
from sglang_contracts.verify.rules.registry import FAILURES
from sglang_contracts.verify.silences import reasons


class Told(NamedTuple):
    """What is said of one release."""

    findings: list[Finding]
    """Not yet merged."""
    unresolved: list[Unresolved]
    """What nothing can be said of, though the plugin relies on it."""
    silenced: list[Silenced]
    """What was found and is not told."""


def told_at(judging: Judging, index: int) -> Told:
    """What is said of one release, by its index."""
    judging.silenced.clear()
    found, never = broken_at(judging, index)
    timeline = judging.timeline
    for number in sorted(timeline.ever_silenced):
        entry, check = timeline.entry(number, index), timeline.checks[number]
        if entry.silence:
            outcome, place = entry.outcome, judging.place(check)
            judging.silenced.append(Silenced(entry.silence, outcome.symbol, place, outcome.what))
    unresolved = list(dict.fromkeys([*unresolved_at(judging, index), *never]))
    return Told(found, unresolved, sorted(set(judging.silenced)))


def broken_at(judging: Judging, index: int) -> tuple[list[Finding], list[Unresolved]]:
    """What comes of all that breaks in one release, by its index."""
    found: list[Finding] = version_guard_wrong.judge_branches(judging, index)
    unresolved: list[Unresolved] = []
    for number in judging.timeline.ever_broken:
        check = judging.timeline.checks[number]
        if not judging.timeline.breaks(number, index):
            continue
        entry = judging.timeline.entry(number, index)
        if check.kind == "class":
            found += hook_missing.judge_missing_hooks(judging, number, check, entry, index)
            continue
        if check.kind == attribute_unset.KIND:
            found += attribute_unset.judge_unset(judging, number, check, entry, index)
            continue
        good = judging.timeline.good(number, index)
        if good is None and check.kind == "clause":
            good = index  # a contract says what changed; names were there all along
        if good is None:
            case = Case(number, check, entry, index, 0, None, index)
            never = never_recorded.judge_never_recorded(judging, case)
            if isinstance(never, Finding):
                found.append(never)
            elif never is not None:
                unresolved.append(never)
            continue
        first, last = judging.timeline.span(number, index)
        case = Case(number, check, entry, index, first, last, good)
        made = (judge_use if check.kind == "use" else judged)(judging, case)
        if made is not None:
            found.append(version_guard_wrong.with_wrong_guard(judging, case, made))
    return found, unresolved


def judge_use(judging: Judging, case: Case) -> Finding | None:
    """What makes a finding of one broken use; None where history says it is none."""
    file, use = judging.use(case)
    outcome = case.entry.outcome
    weak = outcome.named or use.kind in (UseKind.WRITE, UseKind.PROBE)
    if reasons.NOT_YET.holds(case.last_ok is None and bool(weak)):
        judging.silence(case, reasons.NOT_YET)
        return None
    if reasons.OTHER_ENGINE.holds(bool(outcome.named) and file.foreign):
        judging.silence(case, reasons.OTHER_ENGINE)
        return None
    if outcome.named:
        key = (case.number, case.good)
        if key not in judging.agrees:
            judging.agrees[key] = member_gone.name_agrees(judging, case, file, use)
        if reasons.NAME_DISAGREES.holds(not judging.agrees[key]):
            judging.silence(case, reasons.NAME_DISAGREES)
            return None
    if use.kind is UseKind.PROBE:
        return member_gone.judge_probe(judging, case)
    if reasons.ALTERNATIVE.holds(
        bool(use.group)
        and use.group in file.groups
        and member_gone.has_alternative(judging, case, file, use)
    ):
        judging.silence(case, reasons.ALTERNATIVE)
        return None
    return judged(judging, case)


def judged(judging: Judging, case: Case) -> Finding | None:
    """What the judge of a failure says."""
    judge = FAILURES[case.entry.outcome.what].judge
    if judge is None:
        return None
    before = len(judging.silenced)
    made = judge(judging, case)
    if made is None and len(judging.silenced) == before:
        judging.silence(case, reasons.NOT_YET if case.last_ok is None else reasons.NO_CHANGE)
    return made


def unresolved_at(judging: Judging, index: int) -> list[Unresolved]:
    """Uses that could not be followed to what they rely on in one release, by its index."""
    timeline = judging.timeline
    found = []
    for number in sorted(timeline.ever_unresolved):
        entry = timeline.entry(number, index)
        if entry.outcome.what == "unresolved" and entry.reach.runs and not entry.reach.caught:
            case = Case(number, timeline.checks[number], entry, index, index, None, index)
            place = judging.location(case)[0]
            found.append(Unresolved(entry.outcome.detail, entry.outcome.symbol, place))
    return found
