"""What a class is, against the tools that a plugin gives its objects to.

A dataclass that becomes a ``msgspec.Struct`` keeps its name and its fields; ``dataclasses.asdict``,
``fields`` and ``replace`` refuse it, and its objects have no ``__dict__``. What a class is, is
derived from its record, for any class and any release.
"""

from __future__ import annotations

from sglang_contracts.plugin.ir.nodes import Attr
from sglang_contracts.plugin.ir.records import File, Use, UseKind
from sglang_contracts.plugin.walk.except_clauses import ATTRIBUTE_ERRORS, CALL_ERRORS
from sglang_contracts.surface.model import Kind
from sglang_contracts.surface.symbol import Symbol
from sglang_contracts.verify.answers.outcome import UNKNOWN, Outcome, Status
from sglang_contracts.verify.findings.finding import Finding, Suggestion
from sglang_contracts.verify.rules.case import Case, Judging
from sglang_contracts.verify.rules.cause import Cause, Failure
from sglang_contracts.verify.rules.contract_clause import BEHAVIOUR_CHANGED
from sglang_contracts.verify.rules.detection import Detection
from sglang_contracts.verify.values import class_kinds
from sglang_contracts.verify.values.value import ClassRef, ObjectOf

_TOOLS = {
    "dataclasses": class_kinds.DATACLASS,
    "msgspec": class_kinds.STRUCT,
    "vars": class_kinds.DICT,
}
"""The part before the dot of a need (``dataclasses.asdict``) → what it asks of the class."""

_OTHER = {
    class_kinds.DATACLASS: "msgspec.structs.{tool}",
    class_kinds.STRUCT: "dataclasses.{tool}",
}
_MAPPING = "msgspec.structs.asdict"

REFUSES = "{kind}: {tool} refuses it"
HAS_NO_DICT = "{kind}: its objects have no __dict__"
A_STRUCT, A_DATACLASS, A_NAMEDTUPLE = "a msgspec.Struct", "a dataclass", "a NamedTuple"
NO_DATACLASS = "no dataclass"
WAS = {
    class_kinds.DATACLASS: A_DATACLASS,
    class_kinds.STRUCT: A_STRUCT,
    class_kinds.DICT: "objects with a __dict__",
}
"""What a tool asks of a class → what the class was."""


def detect_tool(state: Detection, index: int, file: File, use: Use) -> Outcome:
    """An object or a class that is given to one of the tools."""
    asked = _TOOLS.get(use.name.partition(".")[0])
    if asked is None:
        return UNKNOWN
    return _detect(state, index, use.node, asked, use.name)


def detect_table(state: Detection, index: int, file: File, use: Use) -> Outcome:
    """A read of ``__dict__`` and its like."""
    node = file.nodes[use.node]
    if type(node) is not Attr or node.name not in class_kinds.NAMES:
        return UNKNOWN
    return _detect(state, index, node.base, node.name, node.name)


def _detect(state: Detection, index: int, node: int, asked: str, tool: str) -> Outcome:
    value = state.evaluator.value(index, node)
    symbols = [each.symbol for each in value.alternatives if isinstance(each, (ObjectOf, ClassRef))]
    answer = class_kinds.held(state.lens, value.alternatives, asked)
    if answer is None or not symbols:
        return UNKNOWN
    if answer:
        return Outcome(Status.OK, "class-kind", found=tuple(symbols), named=value.named)
    return Outcome(
        Status.BROKEN,
        "class-kind",
        symbols[0].name,
        owner=symbols[0],
        name=asked,
        detail=tool,
        new=kind_of(state, symbols[0]),
        named=value.named,
    )


def kind_of(state: Detection, symbol: Symbol) -> str:
    """What a class of the present release is, in words."""
    kind = state.lens.kind(symbol)
    if kind & Kind.STRUCT:
        return A_STRUCT
    if class_kinds.has(state.lens, symbol, class_kinds.DATACLASS):
        return A_DATACLASS
    return A_NAMEDTUPLE if kind & Kind.NAMEDTUPLE else NO_DATACLASS


def judge_class_kind(judging: Judging, case: Case) -> Finding | None:
    """A class that was of the kind a tool takes is of another one now."""
    outcome = case.entry.outcome
    if outcome.owner is None or case.last_ok is None or judging.good(case).what != "class-kind":
        return None
    tool = outcome.detail.rpartition(".")[2]
    by_dict = outcome.name == class_kinds.DICT
    use = _MAPPING if by_dict else _OTHER[outcome.name].format(tool=tool)
    text = HAS_NO_DICT if by_dict else REFUSES
    return judging.finding(
        case,
        rule=BEHAVIOUR_CHANGED,
        symbol=outcome.symbol,
        suggestion=Suggestion(use, "signature") if outcome.new == A_STRUCT or not by_dict else None,
        role="read",
        old=WAS[outcome.name],
        new=text.format(kind=outcome.new, tool=outcome.detail),
    )


CAUSE = Cause(
    detects={UseKind.NEED: detect_tool, UseKind.READ: detect_table},
    failures=(
        Failure(
            what="class-kind",
            says="{name} is of another kind",
            catches=ATTRIBUTE_ERRORS | CALL_ERRORS,
            judge=judge_class_kind,
        ),
    ),
    rules=(),  # a change of behaviour
)
