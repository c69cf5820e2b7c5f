"""The text of an enum's member, where the plugin spells it out: ``str(pool) == "PoolName.KV"``.

An enum that gains a ``__str__`` keeps its name, its members and their values; only what ``str()``
and f-strings make of a member is another text.
"""

from __future__ import annotations

from sglang_contracts.plugin.ir.records import File, Use, UseKind
from sglang_contracts.surface.model import Kind
from sglang_contracts.verify.answers.outcome import UNKNOWN, Outcome, Status
from sglang_contracts.verify.findings.finding import Finding, Severity, Suggestion
from sglang_contracts.verify.rules.case import Case, Judging
from sglang_contracts.verify.rules.cause import NOTHING, Cause, Failure
from sglang_contracts.verify.rules.contract_clause import BEHAVIOUR_CHANGED
from sglang_contracts.verify.rules.detection import Detection
from sglang_contracts.verify.values.value import ObjectOf

_VALUED = frozenset({"StrEnum", "IntEnum", "IntFlag"})
"""Bases of the standard library whose members' text is their value (of the last two from 3.11)."""

TEXT_WAS = "its text is {enum}MEMBER"
TEXT_IS = "its text is what __str__ gives"
NAME_OR_VALUE = ".name or .value"


def detect_member_text(state: Detection, index: int, file: File, use: Use) -> Outcome:
    """Whether the text of a value is still the name of an enum's member, as the file spells it."""
    if use.name not in ("text", "format"):
        return UNKNOWN
    lens = state.lens
    value = state.evaluator.value(index, use.node)
    member = value.alternatives[0] if len(value.alternatives) == 1 else None
    if type(member) is not ObjectOf:
        return UNKNOWN
    symbol = member.symbol
    spelled = f"{symbol.qual.rsplit('.', 1)[-1]}."
    if not lens.kind(symbol) & Kind.ENUM or not any(
        each.startswith(spelled) for each in file.strings
    ):
        return UNKNOWN
    if use.name == "format" and "str" in lens.externals(symbol):
        return UNKNOWN  # the value in an f-string before Python 3.12, the name from there on
    bases = {each.rsplit(".", 1)[-1] for each in lens.externals(symbol)}
    own = [lens.member(symbol, each) for each in ("__str__", "__format__")]
    if not any(own) and not bases & _VALUED:
        return Outcome(Status.OK, "text", found=(symbol,), named=value.named)
    return Outcome(
        Status.BROKEN,
        "text",
        f"{symbol.name}.__str__",
        owner=symbol,
        name=spelled,
        named=value.named,
    )


def judge_enum_text(judging: Judging, case: Case) -> Finding | None:
    """What was the name of an enum's member is the text its class gives now."""
    outcome = case.entry.outcome
    if outcome.owner is None or case.last_ok is None:
        return None
    return judging.finding(
        case,
        rule=BEHAVIOUR_CHANGED,
        severity=judging.severity(case, Severity.WARNING),
        symbol=outcome.symbol,
        suggestion=Suggestion(NAME_OR_VALUE, "signature"),
        role="read",
        old=TEXT_WAS.format(enum=outcome.name),
        new=TEXT_IS,
    )


CAUSE = Cause(
    detects={UseKind.NEED: detect_member_text},
    failures=(
        Failure(
            what="text", says="{name} gives another text", catches=NOTHING, judge=judge_enum_text
        ),
    ),
    rules=(),  # a change of behaviour
)
