"""Obligations of a plugin's objects: what SGLang reads off them though no base declares it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sglang_contracts.contract.model import Clause
from sglang_contracts.verify.answers.outcome import OK, UNKNOWN, Outcome, Status
from sglang_contracts.verify.rules import plugin_facts
from sglang_contracts.verify.rules.clause_candidates import Candidate
from sglang_contracts.verify.rules.supplied import supplies_own
from sglang_contracts.verify.silences import reasons

if TYPE_CHECKING:
    from sglang_contracts.verify.rules.detection import Detection


def unmet_obligation(
    state: Detection, candidate: Candidate, clause: Clause, mentions: frozenset[str]
) -> Outcome:
    """What SGLang reads off the plugin's object, though no base class declares it.

    Args:
        state: What detections share.
        candidate: An own class.
        clause: The obligation.
        mentions: Names that stand anywhere in the plugin.
    """
    index, qual = candidate.file, candidate.name
    record = state.files[index].classes[qual]
    if record.open or record.decorated:
        return UNKNOWN
    bases, complete = state.evaluator.members.upstream_bases(index, qual)
    if not bases or not complete:
        return UNKNOWN
    owners = [state.lens.parse(each) for each in clause.owner]
    if not any(owner in state.lens.mro(base) for owner in owners for base in bases if owner):
        return UNKNOWN
    if clause.optional:
        return OK
    name = clause.name
    if name in plugin_facts.own_members(state, index, qual):
        return OK
    if any(state.lens.member(base, name) or state.lens.is_open(base) for base in bases):
        return OK
    symbol = clause.symbols[0] if clause.symbols else f"{clause.owner[0]}.{name}"
    detail = ""
    if not clause.called and "__init__" not in record.methods:
        # Data is set by whoever makes the object: only a class that makes itself surely lacks
        # it. A plugin that asks for it by the accessor depends on it all the same.
        detail = "asked-for" if f"get_{name}" in mentions else "may-be-set"
    unmet = Outcome(Status.BROKEN, "obligation", symbol, name=clause.id, detail=detail)
    if reasons.SUPPLIED.holds(supplies_own(state, index, qual, name)):
        return unmet.silenced(reasons.SUPPLIED.id)
    if reasons.OWN_BASE.holds(record.abstract or (index, qual) in state.extended):
        return unmet.silenced(reasons.OWN_BASE.id)
    return unmet
