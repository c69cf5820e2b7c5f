"""How a method of the plugin handles what a contract's note on it is about."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sglang_contracts.contract.model import On
from sglang_contracts.plugin.ir.nodes import Param
from sglang_contracts.plugin.ir.records import File, Function, UseKind

if TYPE_CHECKING:
    from sglang_contracts.verify.rules.registry import Checker


def asks(checker: Checker, index: int, number: int, on: On) -> bool:
    """Whether a function asks what the argument is before it uses it: it takes either form."""
    file = checker.files[index]
    names = [each.name for each in file.functions[number].parameters]
    place = names.index(on.argument) if on.argument in names else on.position
    if on.argument not in names and place >= 0:
        place += names[:1] == ["self"]
    if place < 0:
        return False
    for use in file.uses:
        if use.function != number or use.kind not in (UseKind.PROBE, UseKind.READ):
            continue
        node = file.nodes[use.node]
        if node[0] != "attr" or file.nodes[node[1]] != Param(number, place):
            continue
        if use.kind is UseKind.PROBE or checker.reach(index, use.guard, "attribute").caught:
            return True
    return False


def delegates(file: File, record: Function, name: str) -> bool:
    """Whether a method gives back only what another object's method of that name gives."""
    nodes = file.nodes
    calls = [nodes[each] for each in record.returns]
    return bool(calls) and all(
        each[0] == "call" and nodes[each[1]][0] == "attr" and nodes[each[1]][2] == name
        for each in calls
    )


def passes_on(file: File, number: int, name: str) -> bool:
    """Whether a function only hands an optional parameter on to what it calls."""
    for place, each in enumerate(file.functions[number].parameters):
        if each.name == name and each.has_default:
            mine = [at for at, node in enumerate(file.nodes) if node == Param(number, place)]
            return not any(
                node[1] in mine
                for node in file.nodes
                if node[0] in ("attr", "item", "iter", "unpack", "slice")
            )
    return False
