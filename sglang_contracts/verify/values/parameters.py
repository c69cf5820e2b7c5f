"""What the parameters of a plugin's functions are: by annotation, by override, by call, by name."""

from __future__ import annotations

from sglang_contracts.plugin.ir.nodes import Attr, Dotted, Foreign, Instance
from sglang_contracts.plugin.ir.records import Function
from sglang_contracts.surface.model import Function as Recorded
from sglang_contracts.surface.model import ParameterKind, Role
from sglang_contracts.surface.symbol import Symbol
from sglang_contracts.verify.answers.lens import Lens
from sglang_contracts.verify.values.annotations import Annotations
from sglang_contracts.verify.values.ask import Ask
from sglang_contracts.verify.values.members import Members
from sglang_contracts.verify.values.plugin_index import PluginIndex
from sglang_contracts.verify.values.value import (
    NOTHING,
    Builtin,
    ClassRef,
    ObjectOf,
    OwnObject,
    Value,
    one,
    union,
)

_MOST_SITES = 40
"""Calls that are looked at for what they give; of a parameter with more nothing is said."""


class Parameters:
    """Answers for the present release of a lens."""

    def __init__(
        self, index: PluginIndex, lens: Lens, annotations: Annotations, members: Members, ask: Ask
    ) -> None:
        self.index = index
        self.files = index.files
        self.lens = lens
        self.annotations = annotations
        self.members = members
        self.ask = ask

    def parameter(self, index: int, number: int, position: int, node: int) -> Value:
        """A parameter of one of the plugin's functions."""
        record = self.files[index].functions[number]
        own = record.parameters[position]
        if own.annotation:
            value = self.ask.value(index, own.annotation)
            if value.alternatives:
                return value
            if not self._says_nothing(index, own.annotation):
                return NOTHING
        if record.owner:
            short = record.qual.rsplit(".", 1)[-1]
            target = self.members.base_member(index, record.owner, short)
            if target is not None and isinstance(target.node, Recorded):
                value = self._like(target, record, position, 0)
                if value.alternatives:
                    return value
        for file, bound_to, kind in self.index.bindings.get((index, number), ()):
            value = self._bound(file, bound_to, kind, record, position)
            if value.alternatives:
                return value
        sites = self.index.sites.get((index, number, position), ())
        if sites and len(sites) <= _MOST_SITES:
            value = union([self.ask.value(*site) for site in sites])
            if value.alternatives and all(type(a) is not Builtin for a in value.alternatives):
                return value
        return self.members.known(own.name, (index, node))

    def _says_nothing(self, index: int, annotation: int) -> bool:
        """Whether an annotation is ``typing.Any``."""
        nodes = self.files[index].nodes
        held = nodes[annotation]
        inner = nodes[held.cls] if type(held) is Instance else held
        return type(inner) is Foreign and inner.name == "Any"

    def _bound(self, file: int, target: int, kind: str, record: Function, position: int) -> Value:
        """A parameter of a function that is put in another's place."""
        node = self.files[file].nodes[target]
        found: tuple[Symbol, ...] = ()
        first = None
        if type(node) is Attr:
            base = self.ask.value(file, node.base)
            found = self.members.look(base, node.name).found
            first = base.alternatives[0] if base.alternatives else None
            if not found and position == 0 and type(first) is ClassRef:
                return one(ObjectOf(first.symbol, False))
        elif type(node) is Dotted:
            symbol = self.members.resolve(node.text)
            found = (symbol,) if symbol is not None else ()
        if len(found) != 1:
            return NOTHING
        shift = 1 if kind in ("around", "after") else 0
        on_object = type(node) is Attr and type(first) in (ObjectOf, OwnObject)
        if on_object and not record.owner and kind != "method":
            shift = -1  # what is written to an object has no ``self``
        if position < shift:
            return Value(self.annotations.of_symbol(found[0])) if kind == "around" else NOTHING
        return self._like(found[0], record, position, shift)

    def _like(self, target: Symbol, record: Function, position: int, shift: int) -> Value:
        """The type that the parameter of an upstream function at that place has."""
        node = target.node
        if not isinstance(node, Recorded):
            return NOTHING
        name = record.parameters[position].name
        parameters = node.parameters
        chosen = next((each for each in parameters if each.name == name), None)
        if chosen is None:
            place = position - shift
            positional = [
                each
                for each in parameters
                if each.kind in (ParameterKind.POSITIONAL, ParameterKind.POSITIONAL_ONLY)
            ]
            if 0 <= place < len(positional):
                chosen = positional[place]
        if chosen is None:
            return NOTHING
        if position == shift and target.owner is not None and not node.role & Role.STATIC:
            return one(ObjectOf(target.owner, False))
        if chosen.annotation:
            return Value(self.annotations.typed(target.module, chosen.annotation))
        return NOTHING
