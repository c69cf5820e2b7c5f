"""Questions that a plugin asks a release: does it have that, does it take this?"""

from __future__ import annotations

import re

from sglang_contracts.plugin.ir.nodes import Node
from sglang_contracts.surface.model import Attribute
from sglang_contracts.surface.model import Function as Recorded
from sglang_contracts.surface.model import Value as RecordedValue
from sglang_contracts.surface.symbol import Symbol
from sglang_contracts.verify.values.members import Members

_COMPREHENDED = re.compile(r"\{(\w+): .* for \1 in (\w+)\}\Z", re.DOTALL)
_LASTING = frozenset(
    {
        "always",
        "and",
        "compare",
        "found",
        "has",
        "has-named",
        "never",
        "not",
        "or",
        "own",
        "probe",
        "registered",
        "select",
        "takes",
        "tried",
        "truth",
        "went",
    }
)
"""Operations whose truth a release decides: an attribute that keeps one is an answer kept."""


class Asked(Members):
    """Answers to what is asked without failing; None where that cannot be told."""

    def takes(self, index: int, function: int, name: str) -> bool | None:
        """Whether a function of the release, or of the plugin, has a parameter of that name."""
        value = self.value(index, function)
        if len(value.alternatives) != 1:
            return None
        match value.alternatives[0]:
            case ("function", symbol, _) if isinstance(symbol.node, Recorded):
                return any(each.name == name for each in symbol.node.parameters)
            case ("class", symbol):
                constructor = self.lens.constructor(symbol)
                if constructor is None or self.lens.is_open(symbol):
                    return None
                return any(each.name == name for each in constructor.parameters)
            case ("own-func", file, number, _):
                own = self.files[file].functions[number].parameters
                return any(each.name == name for each in own)
        return None

    def module_found(self, text: str) -> bool | None:
        """Whether there is a module of that name."""
        return self.lens.has_module(text) if self.lens.covers(text) else None

    def table(self, index: int, node: Node) -> Symbol | None:
        """The table of the release that a node is: a value with keys."""
        symbol: Symbol | None = None
        if node[0] == "import" and node[2]:
            symbol = self.lens.find(node[1], node[2])
        elif node[0] == "attr":
            look = self.look(self.value(index, node[1]), node[2])
            symbol = look.found[0] if len(look.found) == 1 else None
        return symbol if symbol and isinstance(symbol.node, (RecordedValue, Attribute)) else None

    def registered_in(self, table: Symbol, key: str) -> bool | None:
        """Whether a table has a key, as far as its text and the calls that fill it tell."""
        assert isinstance(table.node, (RecordedValue, Attribute))
        added = set(self.lens.registrations(table.qual.rsplit(".", 1)[-1]))
        if not table.node.keys and not added:
            added = self.filled(table) or self.comprehended(table)
        if key in table.node.keys or key in added:
            return True
        if "**" in table.node.value:
            return None  # what it takes over from another table is not among its keys
        return False if table.node.keys or added else None

    def comprehended(self, table: Symbol) -> set[str]:
        """Keys of ``{name: … for name in NAMES}``."""
        assert isinstance(table.node, (RecordedValue, Attribute))
        found = _COMPREHENDED.match(table.node.value)
        names = self.lens.scope(table.module, found.group(2)) if found else None
        return set(names.node.keys) if names and isinstance(names.node, RecordedValue) else set()

    def filled(self, table: Symbol) -> set[str]:
        """Keys that the registering functions beside an empty table are given.

        Only where there is one such table and one such function: else none is known.
        """
        record = self.lens.module(table.module)
        if record is None or table.owner is not None:
            return set()
        empty = [name for name, value in record.values.items() if value.value in ("{}", "dict()")]
        functions = [name for name in record.functions if name.startswith("register")]
        if empty != [table.qual] or len(functions) != 1:
            return set()
        return set(self.lens.registrations(functions[0]))

    def kept_answers(self, index: int, base: int, name: str) -> list[tuple[int, int]]:
        """Where an object of the plugin's own keeps an answer: (file, node) of each assignment.

        Empty unless one of them is an answer: what is only ever None here may be set elsewhere.
        """
        value = self.value(index, base)
        owner = value.alternatives[0] if len(value.alternatives) == 1 else ("",)
        if owner[0] not in ("own-object", "own-class"):
            return []
        _, file, qual = owner
        for _ in range(8):
            record = self.files[file].classes.get(qual)
            if record is None or record.open:
                return []
            if name in record.attributes:
                held = [(file, node) for node in record.attributes[name]]
                return held if any(self.lasting(*each) for each in held) else []
            owns = [own for base in record.bases if (own := self.own_class(file, base))]
            if len(owns) != 1:
                return []
            file, qual = owns[0]
        return []

    def lasting(self, index: int, node: int) -> bool:
        """Whether a node is an answer to a question."""
        return self.files[index].nodes[node][0] in _LASTING
