"""From the history of checks to findings: which judge is asked, in which order."""

from __future__ import annotations

from sglang_contracts.plugin.ir.records import UseKind
from sglang_contracts.verify.findings.finding import Finding
from sglang_contracts.verify.rules import (
    argument_place,
    argument_type,
    call_form,
    contract_clause,
    enum_text,
    hook_missing,
    member_gone,
    name_gone,
    operation_on_kind,
    override_signature,
    registry_key,
    result_form,
    retired,
    version_guard_wrong,
)
from sglang_contracts.verify.rules.case import Case, Judging


def findings_at(judging: Judging, index: int) -> list[Finding]:
    """All findings in one release (by index), not yet merged."""
    found: list[Finding] = version_guard_wrong.judge_branches(judging, index)
    for number in judging.timeline.ever_broken:
        check = judging.timeline.checks[number]
        if not judging.timeline.breaks(number, index):
            continue
        entry = judging.timeline.entry(number, index)
        if check.kind == "class":
            found += hook_missing.judge_missing_hooks(judging, number, check, entry, index)
            continue
        good = judging.timeline.good(number, index)
        if good is None and check.kind == "clause":
            good = index  # a contract says what changed; names were there all along
        if good is None:
            continue
        first, last = judging.timeline.span(number, index)
        case = Case(number, check, entry, index, first, last, good)
        if check.kind == "clause":
            found.append(contract_clause.judge_clause(judging, case))
            continue
        made = (
            override_signature.judge_override(judging, case)
            if check.kind == "override"
            else judge_use(judging, case)
        )
        if made is not None:
            found.append(version_guard_wrong.with_wrong_guard(judging, case, made))
    return found


def judge_use(judging: Judging, case: Case) -> Finding | None:
    """What makes a finding of one broken use; None where history says it is none."""
    file = judging.files[case.check.file]
    use = file.uses[case.check.number]
    outcome = case.entry.outcome
    if case.last_ok is None and (outcome.named or use.kind is UseKind.WRITE):
        return None  # a name alone, or a write, proves nothing before the thing was there
    if outcome.named and file.foreign:
        return None  # another framework's code: its objects go by the same names
    if outcome.named:
        key = (case.number, case.good)
        if key not in judging.agrees:
            judging.agrees[key] = member_gone.name_agrees(judging, case, file, use)
        if not judging.agrees[key]:
            return None
    if use.kind is UseKind.PROBE:
        return member_gone.judge_probe(judging, case, file, use)
    if (
        use.group
        and use.group in file.groups
        and member_gone.has_alternative(judging, case, file, use)
    ):
        return None
    match outcome.what:
        case "module" | "import":
            return name_gone.judge_import(judging, case, use)
        case "attribute" if judging.good(case).what == "kind":
            return operation_on_kind.judge_kind(judging, case)
        case "attribute" | "hook":
            return member_gone.judge_attribute(judging, case, file, use)
        case "misfit":
            return call_form.judge_misfit(judging, case, use)
        case "type":
            return argument_type.judge_argument_type(judging, case)
        case "kind":
            return operation_on_kind.judge_kind(judging, case)
        case "place":
            return argument_place.judge_argument_place(judging, case)
        case "need":
            return operation_on_kind.judge_operation(judging, case)
        case "text":
            return enum_text.judge_enum_text(judging, case)
        case "retired":
            return retired.judge_retired(judging, case)
        case "shift":
            return argument_place.judge_shift(judging, case)
        case "awaited":
            return result_form.judge_awaited(judging, case)
        case "result":
            return result_form.judge_result(judging, case)
        case "unpack":
            return result_form.judge_unpacking(judging, case)
        case "registry" if judging.good(case).what == "kind":
            return None  # a mapping as any other: its annotation never told its keys
        case "registry":
            return registry_key.judge_registry(judging, case, use)
        case "taken":
            return registry_key.judge_taken_key(judging, case)
        case "override":
            return override_signature.judge_replacement(judging, case, use)
    return None
