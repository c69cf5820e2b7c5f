"""What a call gives: of a release's function, by its text; of the plugin's, by its body."""

from __future__ import annotations

import re

from sglang_contracts.surface.model import Function as Recorded
from sglang_contracts.surface.model import Role
from sglang_contracts.surface.symbol import Symbol
from sglang_contracts.verify.answers.lens import Lens
from sglang_contracts.verify.answers.memory import Underway
from sglang_contracts.verify.values.annotations import Annotations
from sglang_contracts.verify.values.ask import Ask
from sglang_contracts.verify.values.plugin_index import PluginIndex
from sglang_contracts.verify.values.value import NOTHING, ObjectOf, Value, list_of, one, union

_DELEGATE = re.compile(r"([A-Za-z_]\w*)\(\*args, \*\*kwargs\)\Z")
_CONSTRUCTORS = ("init_new", "from_")
"""How class methods begin that make an object of their class."""


class CallResults:
    """Answers for the present release of a lens."""

    def __init__(
        self,
        index: PluginIndex,
        lens: Lens,
        annotations: Annotations,
        underway: Underway,
        ask: Ask,
    ) -> None:
        self.files = index.files
        self.lens = lens
        self.annotations = annotations
        self.underway = underway
        self.ask = ask
        self._returning: dict[str, int] = {}
        """Functions whose result is being worked out, with the place of who asked first."""

    def returned(self, symbol: Symbol) -> Value:
        """What a call of a function of the release gives, as far as its text tells."""
        node = symbol.node
        if not isinstance(node, Recorded) or node.role & (Role.GENERATOR | Role.CONTEXT_MANAGER):
            return NOTHING
        place = self._returning.get(symbol.name)
        if place is not None:  # what returns a call of itself says nothing
            self.underway.cut_at(place)
            return NOTHING
        self._returning[symbol.name] = len(self.underway) - 1
        try:
            return self._returned(symbol, node)
        finally:
            del self._returning[symbol.name]

    def _returned(self, symbol: Symbol, node: Recorded) -> Value:
        if node.returns:
            if node.returns in ("Self", "typing.Self", "'Self'") and symbol.owner is not None:
                return one(ObjectOf(symbol.owner, False))
            return Value(self.annotations.typed(symbol.module, node.returns))
        if node.role & Role.CLASS and symbol.owner is not None:
            name = symbol.qual.rsplit(".", 1)[-1]
            if name.startswith(_CONSTRUCTORS):
                return one(ObjectOf(symbol.owner, False))
        if node.result:
            target = self.delegate(symbol)
            if target is not None:
                return self._made_by(target)
            return Value(self.annotations.made(symbol.module, node.result, symbol.owner))
        return NOTHING

    def delegate(self, symbol: Symbol) -> Symbol | None:
        """What a function hands all its arguments on to: ``return Engine(*args, **kwargs)``."""
        node = symbol.node
        found = _DELEGATE.match(node.result) if isinstance(node, Recorded) else None
        if found is None:
            return None
        name = found.group(1)
        record = self.lens.module(symbol.module)
        target = record.imports.get(name) if record is not None else None
        if target is not None and target.local:  # imported where it is called
            return self.lens.find(target.module, target.name) if target.name else None
        other = self.lens.scope(symbol.module, name)
        return other if other != symbol else None

    def _made_by(self, symbol: Symbol) -> Value:
        if symbol.kind == "class":
            return one(ObjectOf(symbol, True))
        return self.returned(symbol) if symbol.kind == "function" else NOTHING

    def own_returned(self, file: int, number: int) -> Value:
        """What a call of a function of the plugin gives."""
        record = self.files[file].functions[number]
        if record.annotation:
            value = self.ask.value(file, record.annotation)
            if value.alternatives:
                return value
        if record.is_generator and record.yields:
            return list_of(union([self.ask.value(file, each) for each in record.yields]))
        if record.is_generator or record.kind == "overload" or not record.returns:
            return NOTHING
        values = [self.ask.value(file, each) for each in record.returns]
        kept = [value for value in values if not value.is_none()]
        return union(kept) if kept else values[0]
