"""Contract clauses that a plugin's code does not honour."""

from __future__ import annotations

from sglang_contracts.verify.findings.finding import Finding, Location, Severity, Suggestion
from sglang_contracts.verify.rules.case import Case, Judging
from sglang_contracts.verify.rules.cause import NOTHING, Cause, Failure
from sglang_contracts.verify.rules.rule import ALONE, Edit, Rule
from sglang_contracts.verify.silences import reasons

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
    detail = case.entry.outcome.detail
    if reasons.MAY_BE_SET.holds(detail == reasons.MAY_BE_SET.id):
        severity = severity.at_most(Severity.NOTE, reasons.MAY_BE_SET)
    elif reasons.HANDED_ON.holds(detail == reasons.HANDED_ON.id):
        severity = severity.at_most(Severity.NOTE, reasons.HANDED_ON)
    elif reasons.UNPROVEN.holds(detail == reasons.UNPROVEN.id):
        severity = severity.at_most(Severity.WARNING, reasons.UNPROVEN)
    elif reasons.ASKED_FOR.holds(detail == reasons.ASKED_FOR.id):
        severity = severity.at_most(Severity.WARNING, reasons.ASKED_FOR)
    if reasons.NO_EFFECT.holds(case.entry.outcome.symbol.startswith("env:")):
        severity = severity.at_most(Severity.WARNING, reasons.NO_EFFECT)
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
        Failure(
            what="behaviour",
            says="{name} means something else",
            catches=NOTHING,
            judge=judge_clause,
        ),
        Failure(
            what="obligation",
            says="{name} is expected by SGLang",
            catches=NOTHING,
            judge=judge_clause,
        ),
    ),
    rules=(OBLIGATION_UNMET, BEHAVIOUR_CHANGED),
)
