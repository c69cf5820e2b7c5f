"""Positional arguments against the parameters at their places.

``release(index, count, self.server_args)`` still binds where the third parameter is another one
now. What an argument is called tells what it was meant for, as long as it is no plain word.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sglang_contracts.plugin.ir.nodes import Call
from sglang_contracts.plugin.ir.records import File, Use
from sglang_contracts.surface.model import Function, Parameter, ParameterKind, Role
from sglang_contracts.surface.symbol import Symbol
from sglang_contracts.verify.answers.outcome import UNKNOWN, Outcome, Status
from sglang_contracts.verify.values.value import FunctionRef, is_weak

if TYPE_CHECKING:
    from sglang_contracts.verify.rules.calling import Calling


def misplaced(checker: Calling, index: int, file: File, use: Use) -> Outcome:
    """Whether an argument stands where another parameter is, and the one it names is nowhere."""
    node = file.nodes[use.node]
    if type(node) is not Call:
        return UNKNOWN
    form = file.forms[node.form]
    called = checker.evaluator.value(index, node.callee)
    first = called.alternatives[0] if len(called.alternatives) == 1 else None
    if type(first) is not FunctionRef or form.star:
        return UNKNOWN
    symbol = first.symbol
    if not isinstance(symbol.node, Function) or checker.reshaped(symbol.node):
        return UNKNOWN
    names = [each.name for each in symbol.node.parameters]
    positional = positions(symbol, first.bound)
    fits = False
    for place, given in enumerate(form.names[: len(positional)]):
        if is_weak(given):
            continue
        if positional[place].name == given:
            fits = True
        elif given not in names:
            new = positional[place].name
            wrong = Outcome(Status.BROKEN, "place", symbol.name, owner=symbol, name=given, new=new)
            return wrong._replace(named=called.named)
    return Outcome(Status.OK, found=(symbol,), named=called.named) if fits else UNKNOWN


def positions(symbol: Symbol, bound: bool = True) -> list[Parameter]:
    """The parameters of a function that positional arguments go to."""
    assert isinstance(symbol.node, Function)
    parameters = symbol.node.parameters
    method = symbol.owner is not None and not symbol.node.role & Role.STATIC
    return [
        each
        for each in parameters[1 if bound and method else 0 :]
        if each.kind <= ParameterKind.POSITIONAL
    ]


def other_than(old: Symbol, new: Symbol, name: str, at_place: str) -> bool:
    """Whether the parameter at a place is another one now, and not the old one by a new name.

    Args:
        old: The function as it was.
        new: The function as it is.
        name: The parameter that stood there, and is gone.
        at_place: The one that stands there now.
    """
    had = {each.name: each for each in positions(old)}
    has = {each.name: each for each in positions(new)}
    if name not in had or at_place not in has:
        return False
    if at_place in had:
        return True  # it stood elsewhere before: everything has moved up
    one, two = had[name].annotation, has[at_place].annotation
    return bool(one and two and one != two and len(has) < len(had))
