"""Attributes that the plugin sets itself, on objects of the class that is read.

``batch.f = 1`` supplies a later ``batch.f`` where both may be one object. That another object has
an attribute of that name supplies nothing: what is looked at is the class of the object written to,
and only where nothing tells its class, the name that it goes by.
"""

from __future__ import annotations

import re

from sglang_contracts.plugin.ir.nodes import Attr, Known, Param
from sglang_contracts.plugin.ir.records import Use
from sglang_contracts.surface.symbol import Symbol
from sglang_contracts.verify.rules.detection import Detection
from sglang_contracts.verify.rules.plugin_facts import Written
from sglang_contracts.verify.values.value import (
    ClassRef,
    ModuleRef,
    ObjectOf,
    OwnClassRef,
    OwnObject,
    OwnSuper,
)


def supplies_read(
    state: Detection, index: int, use: Use, base: int, name: str, owner: Symbol
) -> bool:
    """Whether the plugin sets an attribute before a read of it can happen.

    Args:
        state: What detections share.
        index: The file of the read.
        use: The read.
        base: The node that is read from.
        name: The attribute.
        owner: The class or module that lacks it in the present release.
    """
    receiver = receiver_name(state, index, base)
    for place in state.written.get(name, ()):
        if (place.file, place.function) == (index, use.function) and place.line >= use.line:
            continue
        if (place.file, place.base) == (index, base) or _reaches(state, place, owner, receiver):
            return True
    return False


def supplies_own(state: Detection, file: int, qual: str, name: str) -> bool:
    """Whether the plugin sets an attribute on objects of a class of its own, from outside."""
    spelled = re.sub(r"(?<!^)(?=[A-Z])", "_", qual.rsplit(".", 1)[-1]).lower()
    for place in state.written.get(name, ()):
        held = state.evaluator.value(place.file, place.base).alternatives
        if not held:
            receiver = receiver_name(state, place.file, place.base)
            if len(receiver) > 3 and receiver in spelled:
                return True
        for each in held:
            if isinstance(each, (OwnObject, OwnClassRef, OwnSuper)) and (
                (each.file, each.qual) == (file, qual)
                or state.evaluator.index.descends(each.file, each.qual, (file, qual))
            ):
                return True
    return False


def receiver_name(state: Detection, index: int, base: int) -> str:
    """The name that an object goes by: of a parameter, an attribute; empty where it has none."""
    node = state.files[index].nodes[base]
    if type(node) is Attr or type(node) is Known:
        return node.name
    if type(node) is Param:
        return state.files[index].functions[node.function].parameters[node.position].name
    return ""


def _reaches(state: Detection, place: Written, owner: Symbol, receiver: str) -> bool:
    """Whether what is written to may be an object of the class, or the module, that is read."""
    held = state.evaluator.value(place.file, place.base).alternatives
    if not held:
        return bool(receiver) and receiver == receiver_name(state, place.file, place.base)
    related = state.upstream.related
    for each in held:
        if isinstance(each, (ObjectOf, ClassRef)):
            if related(each.symbol, owner):
                return True
        elif type(each) is ModuleRef:
            if not owner.qual and each.name == owner.module:
                return True
        elif isinstance(each, (OwnObject, OwnClassRef, OwnSuper)):
            bases, _ = state.evaluator.members.upstream_bases(each.file, each.qual)
            if any(related(base, owner) for base in bases):
                return True
    return False
