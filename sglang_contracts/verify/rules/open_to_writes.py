"""Objects that a clause seals, where they are written to before they are sealed."""

from __future__ import annotations

from sglang_contracts.contract.model import On
from sglang_contracts.plugin.ir.nodes import Attr, Call, Dotted, Param
from sglang_contracts.plugin.ir.records import UseKind
from sglang_contracts.verify.rules.detection import Detection
from sglang_contracts.verify.values.value import ClassRef, FunctionRef

_FURTHEST = 4
"""Calls that an object is followed through, from where it is made or handed over."""


def open_to_writes(state: Detection, index: int, node: int, on: On, depth: int = 0) -> bool:
    """Whether an object may still be written to where the plugin does so.

    SGLang hands it over to be filled (an override of one of ``unless_in``; a hook that runs before
    the object is made), or the plugin has made it itself (``unless_made_by``) and has not sealed
    it. What a function of the plugin is given is open where all its callers give it such a one.

    Args:
        state: What detections share.
        index: The file of the write.
        node: The object that is written to.
        on: What the clause says of it.
        depth: Calls followed so far.
    """
    held = state.files[index].nodes[node]
    if type(held) is Call:
        return _made(state, index, node, held, on) and not _sealed(state, index, node, on)
    if type(held) is not Param:
        return False
    if _handed_over(state, index, held.function, on) or _in_making(state, index, held.function):
        return True
    given = state.evaluator.index.sites.get((index, held.function, held.position), ())
    return bool(given and depth < _FURTHEST) and all(
        open_to_writes(state, file, value, on, depth + 1) for file, value in given
    )


def _made(state: Detection, index: int, node: int, call: Call, on: On) -> bool:
    called = state.evaluator.value(index, call.callee).alternatives
    return bool(called) and all(
        isinstance(each, (ClassRef, FunctionRef))
        and each.symbol.name.removesuffix(".__init__") in on.unless_made_by
        for each in called
    )


def _sealed(state: Detection, index: int, node: int, on: On) -> bool:
    """Whether the plugin calls a method on an object that seals it."""
    file = state.files[index]
    return any(
        use.kind is UseKind.CALL
        and type(call := file.nodes[use.node]) is Call
        and type(callee := file.nodes[call.callee]) is Attr
        and callee.base == node
        and callee.name in on.until
        for use in file.uses
    )


def _handed_over(state: Detection, index: int, number: int, on: On) -> bool:
    """Whether a function overrides one of the methods to which the object is given to be filled."""
    wanted = {each.rpartition(".")[2]: each for each in on.unless_in}
    for qual, record in state.files[index].classes.items():
        for name, function in record.methods.items():
            if function != number or name not in wanted:
                continue
            bases, _ = state.evaluator.members.upstream_bases(index, qual)
            target = state.lens.parse(wanted[name])
            owner = target.owner if target is not None else None
            return owner is not None and any(owner in state.lens.mro(base) for base in bases)
    return False


def _in_making(state: Detection, index: int, number: int) -> bool:
    """Whether a function runs before an object is made: nothing is sealed by then."""
    for file, target, kind in state.evaluator.index.bindings.get((index, number), ()):
        node = state.files[file].nodes[target]
        name = node.text if type(node) is Dotted else ""
        name = node.name if type(node) is Attr else name
        if kind == "before" and name.endswith(("__post_init__", "__init__")):
            return True
    return False
