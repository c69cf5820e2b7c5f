"""Contract clauses that a plugin's code does not honour."""

from __future__ import annotations

from sglang_contracts.verify.findings.finding import Finding, Location, Severity, Suggestion
from sglang_contracts.verify.rules.case import Case, Judging
from sglang_contracts.verify.rules.cause import NOTHING, Cause, Failure
from sglang_contracts.verify.rules.rule import ALONE, Edit, Rule

OBLIGATION_UNMET = Rule(
    id="obligation-unmet",
    what="{name} is expected by SGLang",
    fix="provide it like {to}",
    otherwise="define it or set self.{last} in __init__",
    page="contract_clause.toml",
    severity=Severity.ERROR,
    role="clause",
    absent=False,
    merges_with=ALONE,
    edit=Edit.NONE,
    argument=False,
)
BEHAVIOUR_CHANGED = Rule(
    id="behaviour-changed",
    what="{name} means something else",
    fix="use {to}",
    page="contract_clause.toml",
    severity=Severity.ERROR,
    role="clause",
    absent=False,
    merges_with=ALONE,
    edit=Edit.NONE,
    argument=False,
)


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
    rule = judging.rules.get(clause.rule, OBLIGATION_UNMET if obligation else BEHAVIOUR_CHANGED)
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


CAUSE = Cause(
    detects={},  # places that a clause may be about are looked at clause by clause
    failures=(
        Failure(what="behaviour", catches=NOTHING, judge=judge_clause),
        Failure(what="obligation", catches=NOTHING, judge=judge_clause),
    ),
    rules=(OBLIGATION_UNMET, BEHAVIOUR_CHANGED),
)
