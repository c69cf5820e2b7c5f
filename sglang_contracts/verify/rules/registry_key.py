"""Keys of registries: read where there is no entry, or added where there is one."""

from __future__ import annotations

from sglang_contracts.plugin.ir.records import File, Use, UseKind
from sglang_contracts.plugin.walk.except_clauses import KEY_ERRORS, LISTED_ERRORS
from sglang_contracts.plugin.walk.keys import LISTED
from sglang_contracts.verify.answers.outcome import UNKNOWN, Outcome, Status
from sglang_contracts.verify.findings.finding import Finding, Severity
from sglang_contracts.verify.rules.case import Case, Judging
from sglang_contracts.verify.rules.cause import NOTHING, Cause, Failure
from sglang_contracts.verify.rules.contract_clause import BEHAVIOUR_CHANGED
from sglang_contracts.verify.rules.detection import Detection
from sglang_contracts.verify.rules.rule import ALONE, Edit, Rule

REGISTRY_REMOVED = Rule(
    id="registry-removed",
    what="{name} is not registered any more",
    early="{name} is not registered yet",
    fix="use {to}",
    page="registry_key.toml",
    severity=Severity.ERROR,
    role="use",
    absent=True,
    merges_with=ALONE,
    edit=Edit.NONE,
    argument=False,
)

NO_ENTRY = "there was no such entry"
ENTRY_OF_SGLANG = "SGLang has one of its own"


def detect_registry_key(state: Detection, index: int, file: File, use: Use) -> Outcome:
    """A table read by a constant key, or one that has to be without it.

    What is put in the place of an entry of SGLang's is meant to, unless the plugin says not.
    """
    if use.kind is UseKind.REGISTER and not use.count:
        return UNKNOWN
    symbol = state.evaluator.questions.table(index, file.nodes[use.node])
    there = (
        state.evaluator.questions.registered_in(symbol, use.name) if symbol is not None else None
    )
    if symbol is None or there is None:
        return UNKNOWN
    if there == (use.kind is UseKind.ITEM):
        return Outcome(Status.OK, found=(symbol,))
    key = f'{symbol.name}["{use.name}"]'
    if use.kind is not UseKind.ITEM:
        return Outcome(Status.BROKEN, "taken", key, owner=symbol, name=use.name)
    if use.count == LISTED:  # ``remove`` and ``index`` fail by the value
        return Outcome(Status.BROKEN, "listed", key, owner=symbol, name=use.name)
    return Outcome(Status.BROKEN, "registry", key, owner=symbol, name=use.name)


def judge_registry(judging: Judging, case: Case) -> Finding | None:
    """A registry read by a key that it no longer has."""
    if judging.good(case).what == "kind":
        return None  # a mapping as any other: its annotation never told its keys
    outcome = case.entry.outcome
    said = judging.replacements.contract(outcome.symbol, judging.releases[case.at])
    return judging.finding(
        case,
        rule=REGISTRY_REMOVED,
        symbol=outcome.symbol,
        suggestion=said,
    )


def judge_taken_key(judging: Judging, case: Case) -> Finding | None:
    """A key that has to be free, and SGLang has an entry for."""
    if case.last_ok is None:
        return None
    return judging.finding(
        case,
        rule=BEHAVIOUR_CHANGED,
        symbol=case.entry.outcome.symbol,
        role="use",
        old=NO_ENTRY,
        new=ENTRY_OF_SGLANG,
    )


CAUSE = Cause(
    detects={UseKind.ITEM: detect_registry_key, UseKind.REGISTER: detect_registry_key},
    failures=(
        Failure(
            what="registry",
            says="{name} is not registered",
            catches=KEY_ERRORS,
            judge=judge_registry,
        ),
        Failure(
            what="listed",
            says="{name} is not listed",
            catches=LISTED_ERRORS,
            judge=judge_registry,
        ),
        Failure(
            what="taken",
            says="{name} is registered by SGLang itself",
            catches=NOTHING,
            judge=judge_taken_key,
        ),
    ),
    rules=(REGISTRY_REMOVED,),
)
