"""Contract clauses that a plugin's code does not honour."""

from __future__ import annotations

from sglang_contracts.verify.findings.finding import Finding, Location, Severity, Suggestion
from sglang_contracts.verify.rules.case import Case, Judging


def judge_clause(judging: Judging, case: Case) -> Finding:
    """A contract's clause on the plugin's side."""
    checker = judging.timeline.checker
    candidate = checker.candidates[case.check.number]
    clause = checker.behaviours.clauses[candidate.clause]
    file = judging.files[candidate.file]
    if candidate.kind == "use":
        use = file.uses[candidate.number]
        place = Location(file.path, use.line, use.column)
    elif candidate.kind == "method":
        place = Location(file.path, file.functions[candidate.number].line)
    else:
        place = Location(file.path, file.classes[candidate.name].line)
    obligation = case.entry.outcome.what == "obligation"
    suggestion = None
    replacement = clause.replacement(judging.releases[case.at])
    if clause.use:
        suggestion = Suggestion(clause.use, "contract", note=clause.note)
    elif replacement is not None:
        suggestion = Suggestion(replacement.use, "contract", note=replacement.note)
    rule = clause.rule or ("obligation-unmet" if obligation else "behaviour-changed")
    severity = judging.severity(case, Severity(clause.severity or "error"))
    if case.entry.outcome.detail in ("may-be-set", "handed-on"):
        severity = Severity.NOTE
    if case.entry.outcome.symbol.startswith("env:") or case.entry.outcome.detail in (
        "unproven",
        "asked-for",
    ):  # nothing fails, it has no effect; or whether it fails is decided elsewhere
        severity = min(severity, Severity.WARNING, key=lambda each: each.rank)
    return judging.finding(
        case,
        rule=rule,
        severity=severity,
        symbol=case.entry.outcome.symbol,
        locations=(place,),
        suggestion=suggestion,
        role="clause",
        old=clause.was,
        new=clause.now,
        clause=clause.id,
    )
