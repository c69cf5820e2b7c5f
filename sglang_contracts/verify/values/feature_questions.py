"""Questions that a plugin asks a release: does it have that, does it take this?"""

from __future__ import annotations

import re

from sglang_contracts.plugin.ir.nodes import (
    Always,
    And,
    Attr,
    Compare,
    Found,
    Has,
    HasNamed,
    Import,
    Never,
    Node,
    Not,
    Or,
    PluginName,
    Probe,
    Registered,
    Select,
    Takes,
    Tried,
    Truth,
    Went,
)
from sglang_contracts.surface.model import Attribute
from sglang_contracts.surface.model import Function as Recorded
from sglang_contracts.surface.model import Value as RecordedValue
from sglang_contracts.surface.surface import Surface
from sglang_contracts.surface.symbol import Symbol
from sglang_contracts.verify.answers.lens import Lens
from sglang_contracts.verify.values.ask import Ask
from sglang_contracts.verify.values.members import Members
from sglang_contracts.verify.values.plugin_index import PluginIndex
from sglang_contracts.verify.values.value import (
    ClassRef,
    FunctionRef,
    OwnClassRef,
    OwnFunctionRef,
    OwnObject,
    Place,
)

_COMPREHENDED = re.compile(r"\{(\w+): .* for \1 in (\w+)\}\Z", re.DOTALL)
_LASTING = frozenset(
    {Always, And, Compare, Found, Has, HasNamed, Never, Not, Or, PluginName, Probe, Registered}
    | {Select, Takes, Tried, Truth, Went}
)
"""Operations whose truth a release decides: an attribute that keeps one is an answer kept."""


class FeatureQuestions:
    """Answers to what is asked without failing; None where that cannot be told."""

    def __init__(self, index: PluginIndex, lens: Lens, members: Members, ask: Ask) -> None:
        self.index = index
        self.files = index.files
        self.lens = lens
        self.members = members
        self.ask = ask
        self._ever: dict[tuple[str, str], frozenset[str]] = {}

    def takes(self, index: int, function: int, name: str) -> bool | None:
        """Whether a function of the release, or of the plugin, has a parameter of that name."""
        value = self.ask.value(index, function)
        if len(value.alternatives) != 1:
            return None
        each = value.alternatives[0]
        if type(each) is FunctionRef and isinstance(each.symbol.node, Recorded):
            return any(own.name == name for own in each.symbol.node.parameters)
        if type(each) is ClassRef:
            constructor = self.lens.constructor(each.symbol)
            if constructor is None or self.lens.is_open(each.symbol):
                return None
            return any(own.name == name for own in constructor.parameters)
        if type(each) is OwnFunctionRef:
            parameters = self.files[each.file].functions[each.function].parameters
            return any(own.name == name for own in parameters)
        return None

    def module_found(self, text: str) -> bool | None:
        """Whether there is a module of that name."""
        return self.lens.has_module(text) if self.lens.covers(text) else None

    def table(self, index: int, node: Node) -> Symbol | None:
        """The table of the release that a node is: a value with keys."""
        symbol: Symbol | None = None
        if type(node) is Import and node.name:
            symbol = self.lens.find(node.module, node.name)
        elif type(node) is Attr:
            look = self.members.look(self.ask.value(index, node.base), node.name)
            symbol = look.found[0] if len(look.found) == 1 else None
        return symbol if symbol and isinstance(symbol.node, (RecordedValue, Attribute)) else None

    def registered_in(self, table: Symbol, key: str) -> bool | None:
        """Whether a table has a key, as far as its text and the calls that fill it tell."""
        assert isinstance(table.node, (RecordedValue, Attribute))
        added = set(self.lens.registrations(table.qual.rsplit(".", 1)[-1]))
        if not table.node.keys and not added:
            added = self.filled(table, self.lens) or self.comprehended(table, self.lens)
        if key in table.node.keys or key in added:
            return True
        if "**" in table.node.value:
            return None  # what it takes over from another table is not among its keys
        if not (table.node.keys or added):
            return None
        return False if key in self.ever_registered(table) else None  # a plugin may add it

    def ever_registered(self, table: Symbol) -> frozenset[str]:
        """Keys that a table has in one recorded release or another.

        A key that none has is no key of SGLang's: whoever asks for it waits for a plugin to add it.
        """
        place = (table.module, table.qual)
        if place not in self._ever:
            catalog, found = self.lens.catalog, set[str]()
            for release in catalog.releases:
                surface = catalog.surface(release)
                found |= set(surface.registrations(table.qual.rsplit(".", 1)[-1]))
                held = surface.find(*place)
                if held is not None and isinstance(held.node, (RecordedValue, Attribute)):
                    found |= set(held.node.keys)
                    if not held.node.keys:
                        found |= self.filled(held, surface) | self.comprehended(held, surface)
            self._ever[place] = frozenset(found)
        return self._ever[place]

    def comprehended(self, table: Symbol, surface: Surface) -> set[str]:
        """Keys of ``{name: … for name in NAMES}``."""
        assert isinstance(table.node, (RecordedValue, Attribute))
        found = _COMPREHENDED.match(table.node.value)
        names = surface.scope(table.module, found.group(2)) if found else None
        return set(names.node.keys) if names and isinstance(names.node, RecordedValue) else set()

    def filled(self, table: Symbol, surface: Surface) -> set[str]:
        """Keys that the registering functions beside an empty table are given.

        Only where there is one such table and one such function: else none is known.
        """
        record = surface.module(table.module)
        if record is None or table.owner is not None:
            return set()
        empty = [name for name, value in record.values.items() if value.value in ("{}", "dict()")]
        functions = [name for name in record.functions if name.startswith("register")]
        if empty != [table.qual] or len(functions) != 1:
            return set()
        return set(surface.registrations(functions[0]))

    def kept_answers(self, index: int, base: int, name: str) -> list[Place]:
        """Where an object of the plugin's own keeps an answer: (file, node) of each assignment.

        Empty unless one of them is an answer: what is only ever None here may be set elsewhere.
        """
        value = self.ask.value(index, base)
        owner = value.alternatives[0] if len(value.alternatives) == 1 else None
        if not isinstance(owner, (OwnObject, OwnClassRef)):
            return []
        file, qual = owner.file, owner.qual
        for _ in range(8):
            record = self.files[file].classes.get(qual)
            if record is None or record.open:
                return []
            if name in record.attributes:
                held = [(file, node) for node in record.attributes[name]]
                return held if any(self.lasting(*each) for each in held) else []
            owns = [own for base in record.bases if (own := self.index.own_class(file, base))]
            if len(owns) != 1:
                return []
            file, qual = owns[0]
        return []

    def lasting(self, index: int, node: int) -> bool:
        """Whether a node is an answer to a question."""
        return type(self.files[index].nodes[node]) in _LASTING
