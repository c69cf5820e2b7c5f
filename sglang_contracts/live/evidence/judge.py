"""What evidence says of each clause.

The order of the verdicts is the order of what they are worth. *Confirmed* is what a reader may rely
on: :attr:`Status.SEEN` or :attr:`Status.PRESENT`. What a clause states decides which of them can be
reached: existence is confirmed by being there, a dtype, shape, device, type or result only by a
value.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import msgspec

from sglang_contracts.contract import Clause, Contract, Kind, Role, Shown, variant
from sglang_contracts.contract.expression import ExpressionError, holds
from sglang_contracts.contract.signature import bare
from sglang_contracts.live.evidence.model import Batch, Call, Evidence, Object, last_name, upstream
from sglang_contracts.live.evidence.values import (
    fits,
    mismatch,
    proven,
    returned,
    states_result,
    states_value,
)


class Status(enum.IntEnum):
    """What a run says of a clause; the higher one wins over several runs."""

    NOT_EXERCISED = 0
    """Nothing in the run touches it."""
    DECLARED = 1
    """A class in the worker declares it, but no object of the engine is of that class; or the
    clause states a value, and none was seen."""
    PRESENT = 2
    """It is there, on an object that the engine made or in a module that its worker imported, with
    the stated parameters; that is all the clause states."""
    SEEN = 3
    """A value or a call was seen, and it is as stated."""
    CONTRADICTED = 4
    """Seen, and not as stated; or there in a release in which it must not be."""

    @property
    def confirmed(self) -> bool:
        """Whether a running release has shown all that the clause states."""
        return self in (Status.PRESENT, Status.SEEN)


@dataclass(frozen=True)
class Confirmation:
    """What one release's runs say of one clause.

    Attributes:
        clause: Its id.
        release: The release that ran.
        status: The verdict.
        detail: What was seen instead (contradicted), or what was not.
        modes: Forward modes in which it was seen.
    """

    clause: str
    release: str
    status: Status
    detail: str = ""
    modes: tuple[str, ...] = ()


def confirm(contract: Contract, evidence: Evidence) -> tuple[Confirmation, ...]:
    """Hold every clause of a contract against one file's evidence.

    Of clauses that do not hold in that release, only those are given that are contradicted: what
    they speak of is there all the same.
    """
    found = []
    evidence = msgspec.structs.replace(evidence, dims=evidence.sizes(contract.id))
    held = subjects(contract, evidence.release)
    for clause in contract.clauses:
        if clause.holds_in(evidence.release):
            verdict = _judge(clause, evidence)
        elif absent(clause, held, evidence) is False:
            verdict = (Status.CONTRADICTED, "it is there, outside the clause's range", ())
        else:
            continue
        found.append(Confirmation(clause.id, evidence.release, *verdict))
    return tuple(found)


Subject = tuple[Kind, str, tuple[str, ...]]


def subjects(contract: Contract, release: str) -> frozenset[Subject]:
    """What the clauses that hold in a release speak of: kind, name and owner."""
    return frozenset(
        (each.kind, each.name, each.owner) for each in contract.clauses if each.holds_in(release)
    )


def absent(clause: Clause, held: frozenset[Subject], evidence: Evidence) -> bool | None:
    """Whether what a clause speaks of is lacking in a release in which it does not hold.

    Args:
        clause: One that does not hold in the evidence's release.
        held: :func:`subjects` of its contract in that release.
        evidence: What ran.

    Returns:
        None where the run cannot tell: nothing of the kind was made or imported, or another clause
        of the contract holds there for the same name.
    """
    if (clause.kind, clause.name, clause.owner) in held:
        return None
    if clause.kind is Kind.BEHAVIOUR:
        made = _shown(clause, clause.shown, evidence) if clause.shown else None
        return None if made is None else not made
    if clause.kind in (Kind.FLAG, Kind.FLAG_VALUE):
        return _flag(clause, evidence)[0] is Status.CONTRADICTED if evidence.flags else None
    if clause.owner and clause.kind in (Kind.FIELD, Kind.ATTRIBUTE, Kind.METHOD):
        objects = list(evidence.of(clause.owner))
        if not objects:
            return None
        there = any(found.declared(clause.name, clause.owner) for _, found in objects)
        return not there
    modules = [symbol.partition(":") for symbol in clause.symbols]
    imported = [(module, name) for module, _, name in modules if module in evidence.symbols]
    if not imported or clause.kind not in (Kind.FUNCTION, Kind.CLASS, Kind.MEMBER):
        return None  # further keys of a registry depend on the machine
    if clause.kind is Kind.MEMBER:
        # What a class that is no enumeration there sets on itself is no member of one.
        kinds = {evidence.symbols[module].get(name, "member") for module, name in imported}
        if kinds != {"member"}:
            return None
    return not any(name in evidence.symbols[module] for module, name in imported)


_Verdict = tuple[Status, str, tuple[str, ...]]
_UNSEEN: _Verdict = (Status.NOT_EXERCISED, "", ())


def _judge(clause: Clause, evidence: Evidence) -> _Verdict:
    if clause.kind is Kind.INVARIANT:
        return _invariant(clause, evidence)
    if clause.kind is Kind.BEHAVIOUR:
        return _behaviour(clause, evidence)
    if clause.kind in (Kind.FLAG, Kind.FLAG_VALUE):
        return _flag(clause, evidence)
    verdict = _symbol(clause, evidence)
    of_modes = any(last_name(owner) == "ForwardMode" for owner in clause.owner)
    if clause.kind is Kind.MEMBER and of_modes and clause.name.lower() in evidence.modes:
        verdict = max(verdict, (Status.SEEN, "", ()))
    for role, found in evidence.of(clause.owner):
        if role == "batch" and clause.kind in (Kind.FIELD, Kind.ATTRIBUTE):
            verdict = max(verdict, _batch_field(clause, found, evidence))
        elif clause.kind is Kind.OBLIGATION:
            verdict = max(verdict, _obligation(clause, found))
        elif clause.kind is Kind.METHOD:
            verdict = max(verdict, _method(clause, found, evidence))
        elif clause.kind in (Kind.FIELD, Kind.ATTRIBUTE):
            verdict = max(verdict, _attribute(clause, found, evidence))
    return verdict


def _flag(clause: Clause, evidence: Evidence) -> _Verdict:
    if not evidence.flags:
        return _UNSEEN
    text = clause.symbols[0].removeprefix("flag:")
    flag, _, value = text.partition("(")
    if flag not in evidence.flags:
        return Status.CONTRADICTED, "the server has no such flag", ()
    if value and value.rstrip(")") not in evidence.flags[flag]:
        return Status.CONTRADICTED, "not among the flag's choices", ()
    return Status.PRESENT, "", ()


def _symbol(clause: Clause, evidence: Evidence) -> _Verdict:
    """Whether the running worker had one of the clause's symbols, with its parameters.

    A function, class, key or module that is there is all such a clause states. A member of a class
    is only declared so: the engine made no object that has it.
    """
    for symbol in clause.symbols:
        module, _, name = symbol.partition(":")
        what = evidence.symbols.get(module, {}).get(name)
        if what is None and not (clause.kind is Kind.MODULE and symbol in evidence.symbols):
            continue
        wrong = _parameters(clause, (what or "").removeprefix("class "), evidence.release)
        if wrong and clause.kind is Kind.FUNCTION:
            # Which of several definitions a module binds may depend on the machine.
            return Status.NOT_EXERCISED, f"on this platform it {wrong}", ()
        if wrong:
            return Status.CONTRADICTED, wrong, ()
        if clause.owner and clause.kind is not Kind.MEMBER:
            return Status.DECLARED, "by the class alone", ()
        if states_result(variant(clause.returns, evidence.release)):
            return Status.DECLARED, "no result was seen", ()
        stated = variant(clause.parameters, evidence.release) is not None
        if stated and "(" not in (what or ""):
            return Status.DECLARED, "its parameters cannot be seen", ()
        return Status.PRESENT, "", ()
    return _UNSEEN


def _parameters(clause: Clause, what: str, release: str) -> str:
    parameters = variant(clause.parameters, release)
    if parameters is not None and what.startswith("(") and what != f"({', '.join(parameters)})":
        return f"takes {what}, stated ({', '.join(parameters)})"
    return ""


def _applies(clause: Clause, batch: Batch) -> bool:
    return not clause.modes or bool(set(clause.modes) & set(batch.modes))


def _batch_field(clause: Clause, found: Object, evidence: Evidence) -> _Verdict:
    seen: dict[str, None] = {}
    sure = empty = False
    for batch in evidence.batches:
        if not _applies(clause, batch):
            continue
        value = batch.fields.get(clause.name)
        if value is None:
            empty = empty or clause.name in batch.empty
            if clause.name in batch.empty and clause.modes and not clause.optional:
                return Status.CONTRADICTED, "None", batch.modes
            continue
        wrong = mismatch(clause, value, evidence.release, _dims(batch, evidence))
        if wrong:
            return Status.CONTRADICTED, wrong, batch.modes
        sure = sure or proven(clause, value, evidence.release)
        seen.update(dict.fromkeys(batch.modes))
    if seen and sure:
        return Status.SEEN, "", tuple(seen)
    if seen:
        return Status.DECLARED, "a value of another class", tuple(seen)
    what = found.declared(clause.name, clause.owner)
    if empty:
        return _empty(clause, what, evidence.release)
    return _declared(clause, what, evidence)


def _empty(clause: Clause, what: str | None, release: str) -> _Verdict:
    """It is there, and always None: enough where that is a value of what the clause states."""
    if not states_value(clause, release):
        return Status.PRESENT, "", ()
    stated_of_tensor = variant(clause.dtype, release), variant(clause.shape, release)
    if clause.device or any(each is not None for each in stated_of_tensor):
        return Status.DECLARED, "never with a value", ()
    stated = variant(clause.type, release) or ""
    # None alone shows no type; that the running class annotates it so does.
    annotated = (what or "").removeprefix(": ").strip("'\"")
    if fits(stated, {"type": "none"}) and _same_type(annotated, stated):
        return Status.PRESENT, "", ()
    return Status.DECLARED, "never with a value", ()


def _same_type(one: str, other: str) -> bool:
    plain = (text.replace("typing.", "").replace(" ", "").strip("'\"") for text in (one, other))
    first, second = plain
    return first == second


def _dims(batch: Batch, evidence: Evidence) -> dict[str, int]:
    found = dict(evidence.dims)
    size = batch.fields.get("batch_size", {}).get("value")
    if size is not None:
        found["B"] = size
    tokens = batch.fields.get("out_cache_loc", {}).get("shape")
    if tokens:
        found["T"] = tokens[0]
    return found


def _attribute(clause: Clause, found: Object, evidence: Evidence) -> _Verdict:
    values = [
        read.value
        for read in found.reads.get(clause.name, ())
        if read.value["type"] != "missing" and _counts(read.by, clause.name, found)
    ]
    if clause.name in found.fields and clause.name not in found.own:
        values.append(found.fields[clause.name])
    real = [value for value in values if value["type"] != "none"]
    for value in real:
        wrong = mismatch(clause, value, evidence.release, evidence.dims)
        if wrong:
            return Status.CONTRADICTED, wrong, ()
    if any(proven(clause, value, evidence.release) for value in real):
        return Status.SEEN, "", ()
    what = found.declared(clause.name, clause.owner)
    if real:
        return Status.DECLARED, "a value of another class", ()
    if values:
        return _empty(clause, what, evidence.release)
    return _declared(clause, what, evidence)


def _declared(clause: Clause, what: str | None, evidence: Evidence) -> _Verdict:
    """No value was seen; the class of the engine's own object declares it, or not."""
    if what is None:
        return _UNSEEN
    if states_value(clause, evidence.release):
        return Status.DECLARED, "no value was seen", ()
    return Status.PRESENT, "", ()


def _counts(by: Iterable[str], name: str, found: Object) -> bool:
    """Whether an access shows something of SGLang: by its own code, or of what is not the plugin's.

    A plugin that calls or reads what it has defined itself would vouch for itself.
    """
    mine = found.overridden(name) or name in found.own
    return not mine or any(upstream(each) for each in by)


def _method(clause: Clause, found: Object, evidence: Evidence) -> _Verdict:
    release = evidence.release
    what = found.declared(clause.name, clause.owner)
    wrong = _parameters(clause, what or "", release)
    if wrong:
        return Status.CONTRADICTED, wrong, ()
    name = clause.name
    if name == "__init__":
        name = f"{last_name(found.line(clause.owner)[0])}.__init__"
    calls = [call for call in found.calls.get(name, ()) if _counts(call.by, clause.name, found)]
    stated, result = states_result(variant(clause.returns, release)), False
    for call in calls:
        wrong = _call_mismatch(clause, call, release)
        if not wrong and stated:
            given, wrong = returned(clause, call, release, evidence.dims)
            result = result or given
        if wrong:
            return Status.CONTRADICTED, wrong, ()
    if calls and (result or not stated):
        return Status.SEEN, "", ()
    if what is None:
        return _UNSEEN
    if stated:
        return Status.DECLARED, "no result was seen", ()
    return Status.PRESENT, "", ()


def _call_mismatch(clause: Clause, call: Call, release: str) -> str:
    parameters = variant(clause.parameters, release)
    if parameters is None or any(text.startswith("*") and text != "*" for text in parameters):
        return ""  # nothing stated, or it takes whatever comes
    named = [text for text in parameters if text != "/"]
    positional = named[: named.index("*")] if "*" in named else named
    if len(call.args) > len(positional):
        return f"called with {len(call.args)} positional arguments, stated {len(positional)}"
    open_ones = (*positional[len(call.args) :], *named[len(positional) :])
    unknown = sorted(set(call.kwargs) - {bare(text) for text in open_ones})
    if unknown:
        return f"called with {', '.join(unknown)}=, which it does not take there"
    missing = [text for text in open_ones if text.isidentifier() and text not in call.kwargs]
    return f"called without {', '.join(missing)}" if missing else ""


def _obligation(clause: Clause, found: Object) -> _Verdict:
    """SGLang itself must have called it or asked for it; that the plugin has it shows nothing."""
    callers = [by for call in found.calls.get(clause.name, ()) for by in call.by]
    reads = found.reads.get(clause.name, ())
    readers = [by for read in reads for by in read.by]
    lacking = any(read.value["type"] == "missing" for read in reads)
    if not any(upstream(by) for by in (*callers, *readers)):
        return _UNSEEN
    if lacking and not clause.optional:
        return Status.CONTRADICTED, "asked for, and the engine went on without", ()
    return Status.SEEN, "", ()


def _invariant(clause: Clause, evidence: Evidence) -> _Verdict:
    modes: dict[str, None] = {}
    for batch in evidence.batches:
        if not _applies(clause, batch):
            continue
        true = _holds(clause.holds, batch, evidence)
        if true is False:
            return Status.CONTRADICTED, f"not so: {clause.holds}", batch.modes
        if true:
            modes.update(dict.fromkeys(batch.modes))
    return (Status.SEEN, "", tuple(modes)) if modes else _UNSEEN


def _holds(expression: str, batch: Batch, evidence: Evidence) -> bool | None:
    """Whether it is so of a batch; None where it reads what the sample does not hold."""
    environment: dict[str, Any] = dict(_dims(batch, evidence))
    environment.update(dict.fromkeys(batch.empty))
    for name, value in batch.fields.items():
        if "values" in value:
            environment[name] = value["values"]
        elif "value" in value:
            environment[name] = value["value"]
    environment["page_size"] = batch.page_size
    try:
        return holds(expression, environment)
    except ExpressionError:
        return None


def _behaviour(clause: Clause, evidence: Evidence) -> _Verdict:
    """A change of meaning is seen only where its clause says by what it shows itself."""
    if clause.shown is None:
        return _UNSEEN
    made = _shown(clause, clause.shown, evidence)
    if made:
        return Status.SEEN, "", ()
    if made is False and clause.shown.holds:
        return Status.CONTRADICTED, f"not so: {clause.shown.holds}", ()
    return _UNSEEN  # not every caller need be of the new meaning yet


def _shown(clause: Clause, shown: Shown, evidence: Evidence) -> bool | None:
    """Whether the new meaning shows: in some call, or in all batches; None: nothing can tell."""
    if shown.holds:
        answers = [_holds(shown.holds, batch, evidence) for batch in evidence.batches]
        known = [answer for answer in answers if answer is not None]
        return all(known) if known else None
    assert clause.on is not None  # the loader sees to it
    module, _, path = clause.on.symbol.partition(":")
    owner = f"{module}:{path.partition('.')[0]}"
    derived = clause.on.role is Role.SUBCLASSER  # it concerns a plugin's class alone
    calls = [
        call
        for _, found in evidence.of((owner,))
        if not (derived and upstream(found.cls))
        for call in found.calls.get(shown.call, ())
        if any(upstream(by) for by in call.by)
    ]
    if shown.keywords:
        return any(set(shown.keywords) <= call.kwargs.keys() for call in calls) if calls else None
    given = [
        value
        for call in calls
        if (value := _argument(call, shown.argument, shown.position)) is not None
    ]
    if not given:
        return None
    kinds = [value.get("class", value["type"]) for value in given]
    return any(shown.type in (kind, last_name(kind)) for kind in kinds)


def _argument(call: Call, name: str, position: int) -> dict[str, Any] | None:
    if name in call.kwargs:
        return call.kwargs[name]
    return call.args[position] if 0 <= position < len(call.args) else None
