"""Nodes of a plugin in one release after the other."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sglang_contracts.plugin.ir.nodes import Node, Unknown
from sglang_contracts.plugin.ir.records import Function
from sglang_contracts.surface.model import Function as Recorded
from sglang_contracts.surface.model import (
    ParameterKind,
    Role,
)
from sglang_contracts.surface.symbol import Symbol
from sglang_contracts.verify.answers.memory import Key
from sglang_contracts.verify.values.value import (
    NOTHING,
    Alternative,
    Value,
    holding,
)
from sglang_contracts.verify.values.version_ranges import Coverage

_DEEPEST = 60
"""Nodes that may stand on one another: each takes about ten frames of Python's thousand."""

_DELEGATE = re.compile(r"([A-Za-z_]\w*)\(\*args, \*\*kwargs\)\Z")
_CONSTRUCTORS = ("init_new", "from_")
"""How class methods begin that make an object of their class."""
_OF_CONTAINERS = frozenset({"get", "pop", "popleft", "setdefault", "values", "items", "copy"})
"""Methods of containers that hand out what is held."""


class Evaluator(Coverage):
    """Works out nodes in one release after the other; see :meth:`move`."""

    def move(self, release: str) -> frozenset[Key]:
        """Go to another release; what is forgotten is only what stands on what changed."""
        return self.lens.move(release)

    def value(self, index: int, node: int) -> Value:
        """What a node is in the present release."""
        if node == 0:
            return NOTHING
        memory = self.lens.memory
        key = ("node", index, node)
        held: Value | None = memory.held(key)
        if held is not None:
            return held
        if self.underway.cut(key, _DEEPEST):
            return NOTHING
        looked_at = self.underway.meanwhile(key)
        if looked_at is not None:
            memory.stand_on(looked_at)
            return NOTHING
        outer = self.underway.begin(key)
        try:
            found, names = memory.track(
                lambda: self._work(index, self.files[index].nodes[node], node)
            )
        finally:
            above = self.underway.end(key, outer)
        if above is None or found.alternatives:
            memory.keep(key, found, names)
            memory.touch(key)
        else:
            memory.stand_on(names)
            self.underway.wait(key, above, names)  # whoever asks later may learn more
        return found

    def union(self, values: Sequence[Value]) -> Value:
        """One of several; unknown if one is."""
        alternatives: dict[Alternative, None] = {}
        named = ""
        for value in values:
            if not value.alternatives:
                return NOTHING
            named = named or value.named
            alternatives.update(dict.fromkeys(value.alternatives))
        return Value(tuple(alternatives), named)

    def _work(self, index: int, node: Node, number: int) -> Value:
        op = node[0]
        method = getattr(self, "_op_" + op.replace("-", "_"), None)
        if method is None:
            return NOTHING
        result = method(index, node, number)
        assert isinstance(result, Value)
        return result

    def _op_import(self, index: int, node: Node, number: int) -> Value:
        _, module, name = node
        if not name:
            return Value((("module", module),)) if self.lens.has_module(module) else NOTHING
        if not self.lens.covers(module):
            return NOTHING
        symbol = self.lens.find(module, name)
        if symbol is None:
            return NOTHING
        found = Value(self.of_symbol(symbol))
        # a module's own object of which its text says nothing, such as ``current_platform``
        unsaid = not found.alternatives and symbol.kind == "value"
        return self.known(name, (index, number)) if unsaid else found

    def _op_dotted(self, index: int, node: Node, number: int) -> Value:
        symbol = self.resolve(node[1])
        return Value(self.of_symbol(symbol)) if symbol is not None else NOTHING

    def resolve(self, text: str) -> Symbol | None:
        """What a dotted string names."""
        module, colon, qual = text.partition(":")
        if colon:
            # the module part may itself end in a class
            found = self.lens.find(module, qual)
            return found if found is not None else self.lens.parse(f"{module}.{qual}")
        return self.lens.parse(text)

    def _op_attr(self, index: int, node: Node, number: int) -> Value:
        look = self.look(self.value(index, node[1]), node[2])
        if look.value.alternatives or look.lost:
            return look.value
        return self.known(node[2], (index, number))

    def _op_literal(self, index: int, node: Node, number: int) -> Value:
        return Value((("literal", node[1]),))

    def _op_text(self, index: int, node: Node, number: int) -> Value:
        return Value((("literal", "str"),))

    def _op_number(self, index: int, node: Node, number: int) -> Value:
        return Value((("literal", "int"),))

    def _op_slice(self, index: int, node: Node, number: int) -> Value:
        return self.value(index, node[1])

    def _op_instance(self, index: int, node: Node, number: int) -> Value:
        value = self.value(index, node[1])
        found: list[Alternative] = []
        for each in value.alternatives:
            if each[0] == "class":
                found.append(("object", each[1], False))
            elif each[0] == "own-class":
                found.append(("own-object", each[1], each[2]))
            elif each[0] == "object":  # a type alias held as a value
                found.append(each)
            else:
                return NOTHING
        return Value(tuple(found), value.named)

    def _op_union(self, index: int, node: Node, number: int) -> Value:
        none = ("literal", "None")
        values = [self.value(index, each) for each in node[1:] if not self._extinct(index, each)]
        return self.union([value for value in values if value.alternatives != (none,)])

    def _extinct(self, index: int, node: int) -> bool:
        """Whether a node is an instance of a class that the release has no more: nothing is."""
        held = self.files[index].nodes[node]
        made_of: Node = Unknown()
        if held[0] == "instance":
            made_of = self.files[index].nodes[held[1]]
        if made_of[0] != "import" or not made_of[2] or not self.lens.covers(made_of[1]):
            return False
        owner = Symbol(made_of[1], "", "module", self.lens.module(made_of[1]))
        return self.lens.find(made_of[1], made_of[2]) is None and not self.lens.is_open(owner)

    def _op_without(self, index: int, node: Node, number: int) -> Value:
        """What an ``isinstance`` that did not hold leaves."""
        value, taken = self.value(index, node[1]), self.value(index, node[2])
        classes = [each[1] for each in taken.alternatives if each[0] == "object"]
        owns = [each for each in taken.alternatives if each[0] == "own-object"]
        if not taken.alternatives or len(classes) + len(owns) != len(taken.alternatives):
            return NOTHING
        left = []
        for each in value.alternatives:
            if each in owns:
                continue
            if each[0] == "object":
                if any(one in self.lens.mro(each[1]) for one in classes):
                    continue
                if any(each[1] in self.lens.mro(one) for one in classes):
                    return NOTHING  # one of its subclasses is gone: that tells little of the rest
            elif each[0] != "literal":
                return NOTHING
            left.append(each)
        return Value(tuple(left), value.named)

    def _op_list(self, index: int, node: Node, number: int) -> Value:
        return holding("list", self.value(index, node[1]))

    def _op_dict(self, index: int, node: Node, number: int) -> Value:
        return holding("dict", self.value(index, node[1]))

    def _op_tuple(self, index: int, node: Node, number: int) -> Value:
        return holding("tuple", *[self.value(index, each) for each in node[1:]])

    def _op_iter(self, index: int, node: Node, number: int) -> Value:
        return self.element(self.value(index, node[1]), None)

    def _op_item(self, index: int, node: Node, number: int) -> Value:
        return self.element(self.value(index, node[1]), node[2], subscript=True)

    def _op_unpack(self, index: int, node: Node, number: int) -> Value:
        value = self.value(index, node[1])
        found = []
        for each in value.alternatives:
            if each[0] == "tuple":
                place = node[2]
                if -len(each[1]) <= place < len(each[1]):
                    found.append(each[1][place])
                else:
                    return NOTHING
            elif each[0] == "list":
                found.append(each[1])
            elif each[0] == "object" and node[3] == -1:
                return NOTHING
            else:
                return NOTHING
        return self.union(found) if found else NOTHING

    def element(self, value: Value, key: str | None, subscript: bool = False) -> Value:
        """An element of a container."""
        found = []
        for each in value.alternatives:
            if each[0] == "list" or (each[0] == "dict" and subscript):
                found.append(each[1])
            elif each[0] == "tuple" and each[1]:
                found.append(self.union(each[1]))
            else:
                return NOTHING
        return self.union(found) if found else NOTHING

    def _op_enter(self, index: int, node: Node, number: int) -> Value:
        value = self.value(index, node[1])
        found: list[Value] = []
        for each in value.alternatives:
            if each[0] == "list":  # a context manager written as a generator
                found.append(each[1])
                continue
            if each[0] != "object":
                return NOTHING
            member = self.lens.member(each[1], "__enter__")
            if member is None or not isinstance(member.node, Recorded):
                return NOTHING
            if member.node.returns:
                found.append(Value(self.typed(member.module, member.node.returns)))
            elif member.node.result == "self":
                found.append(Value((each,)))
            else:
                return NOTHING
        return self.union(found) if found else NOTHING

    def _op_param(self, index: int, node: Node, number: int) -> Value:
        return self.parameter(index, node[1], node[2], number)

    def _op_self(self, index: int, node: Node, number: int) -> Value:
        return Value((("own-object", index, node[1]),))

    def _op_super(self, index: int, node: Node, number: int) -> Value:
        return Value((("super", index, node[1]),))

    def _op_ownclass(self, index: int, node: Node, number: int) -> Value:
        return Value((("own-class", index, node[1]),))

    def _op_ownfunc(self, index: int, node: Node, number: int) -> Value:
        return Value((("own-func", index, node[1], False),))

    def _op_own(self, index: int, node: Node, number: int) -> Value:
        _, module, name = node
        return self.own_member(module, name)

    def own_member(self, module: str, name: str) -> Value:
        """A name of one of the plugin's modules."""
        if not name:
            return Value((("own-module", module),))
        found = self.own_name(module, name)
        if found is not None:
            return self.value(*found)
        below = f"{module}.{name}"
        if below in self.modules or below in self.packages:
            return Value((("own-module", below),))
        at = self.modules.get(module)
        if at is not None:
            for star in self.files[at].stars:
                if star.startswith(":"):
                    symbol = self.lens.find(star[1:], name)
                    if symbol is not None:
                        return Value(self.of_symbol(symbol))
        return NOTHING

    def _op_known(self, index: int, node: Node, number: int) -> Value:
        return self.known(node[1], (index, number))

    def _op_wrapped(self, index: int, node: Node, number: int) -> Value:
        return self.value(index, node[2]) if node[1] != "property" else NOTHING

    def _op_partial(self, index: int, node: Node, number: int) -> Value:
        return NOTHING

    def _op_probe(self, index: int, node: Node, number: int) -> Value:
        base = self.files[index].nodes[node[1]]
        if base[0] == "attr":
            look = self.look(self.value(index, base[1]), base[2])
            if look.lost:
                return self.value(index, node[2])
            if look.found:
                return look.value
        value, default = self.value(index, node[1]), self.value(index, node[2])
        nothing = ((("literal", "None"),), (("literal", "object"),))
        if default.alternatives in nothing or not node[2]:
            return value
        return self.union([value, default])

    def _op_typeof(self, index: int, node: Node, number: int) -> Value:
        value = self.value(index, node[1])
        found: list[Alternative] = []
        for each in value.alternatives:
            if each[0] == "object" and each[2]:
                found.append(("class", each[1]))
            elif each[0] == "own-object":
                found.append(("own-class", each[1], each[2]))
            else:
                return NOTHING
        return Value(tuple(found), value.named)

    def _op_select(self, index: int, node: Node, number: int) -> Value:
        truth = self.condition(index, node[1])
        if truth is not None:
            return self.value(index, node[2] if truth else node[3])
        values = [self.value(index, node[2]), self.value(index, node[3])]
        none = ("literal", "None")
        kept = [value for value in values if value.alternatives != (none,)]
        return self.union(kept) if kept else values[0]

    def _op_tried(self, index: int, node: Node, number: int) -> Value:
        went = self.went(index, node[1])
        return self.value(index, node[3] if went is False else node[2])

    def _op_call(self, index: int, node: Node, number: int) -> Value:
        held = self.files[index].nodes[node[1]]
        if held[0] == "attr" and held[2] in _OF_CONTAINERS:
            given = self._of_container(self.value(index, held[1]), held[2])
            if given.alternatives:
                return given
        callee = self.value(index, node[1])
        found: list[Value] = []
        for each in callee.alternatives:
            match each:
                case ("class", symbol):
                    found.append(Value((("object", symbol, True),)))
                case ("own-class", file, qual):
                    found.append(Value((("own-object", file, qual),)))
                case ("function", symbol, _):
                    found.append(self.returned(symbol))
                case ("own-func", file, number_, _):
                    found.append(self.own_returned(file, number_))
                case _:
                    return NOTHING
        value = self.union(found) if found else NOTHING
        return Value(value.alternatives, value.named or callee.named)

    def _of_container(self, value: Value, method: str) -> Value:
        """What a method of a list or of a mapping gives, where it hands out what is held."""
        found = []
        for each in value.alternatives:
            if each[0] not in ("list", "dict"):
                return NOTHING
            held = each[1]
            if method == "values":
                found.append(holding("list", held))
            elif method == "items" and each[0] == "dict":
                found.append(holding("list", holding("tuple", NOTHING, held)))
            elif method == "copy":
                found.append(Value((each,)))
            else:
                found.append(held)
        return self.union(found) if found else NOTHING

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
                return Value((("object", symbol.owner, False),))
            return Value(self.typed(symbol.module, node.returns))
        if node.role & Role.CLASS and symbol.owner is not None:
            name = symbol.qual.rsplit(".", 1)[-1]
            if name.startswith(_CONSTRUCTORS):
                return Value((("object", symbol.owner, False),))
        if node.result:
            target = self.delegate(symbol)
            if target is not None:
                return self._made_by(target)
            return Value(self.made(symbol.module, node.result, symbol.owner))
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
            return Value((("object", symbol, True),))
        return self.returned(symbol) if symbol.kind == "function" else NOTHING

    def own_returned(self, file: int, number: int) -> Value:
        """What a call of a function of the plugin gives."""
        record = self.files[file].functions[number]
        if record.annotation:
            value = self.value(file, record.annotation)
            if value.alternatives:
                return value
        if record.is_generator and record.yields:
            return holding("list", self.union([self.value(file, each) for each in record.yields]))
        if record.is_generator or record.kind == "overload" or not record.returns:
            return NOTHING
        none = (("literal", "None"),)
        values = [self.value(file, each) for each in record.returns]
        kept = [value for value in values if value.alternatives != none]
        return self.union(kept) if kept else values[0]

    def parameter(self, index: int, number: int, position: int, node: int) -> Value:
        """A parameter of one of the plugin's functions."""
        record = self.files[index].functions[number]
        own = record.parameters[position]
        if own.annotation:
            value = self.value(index, own.annotation)
            if value.alternatives:
                return value
            held = self.files[index].nodes[own.annotation]
            inner = self.files[index].nodes[held[1]] if held[0] == "instance" else held
            if inner[0] != "foreign" or inner[2] != "Any":
                return NOTHING
        if record.owner:
            short = record.qual.rsplit(".", 1)[-1]
            target = self.base_member(index, record.owner, short)
            if target is not None and isinstance(target.node, Recorded):
                value = self._like(target, record, position, 0)
                if value.alternatives:
                    return value
        for file, node_target, kind in self.bindings.get((index, number), ()):
            value = self._bound(file, node_target, kind, record, position)
            if value.alternatives:
                return value
        sites = self.sites.get((index, number, position), ())
        if sites and len(sites) <= 40:
            values = [self.value(*site) for site in sites]
            value = self.union(values)
            if value.alternatives and all(a[0] != "literal" for a in value.alternatives):
                return value
        return self.known(own.name, (index, node))

    def _bound(self, file: int, target: int, kind: str, record: Function, position: int) -> Value:
        node = self.files[file].nodes[target]
        found: tuple[Symbol, ...]
        if node[0] == "attr":
            found = self.look(self.value(file, node[1]), node[2]).found
            if not found:
                base = self.value(file, node[1])
                if position == 0 and base.alternatives and base.alternatives[0][0] == "class":
                    return Value((("object", base.alternatives[0][1], False),))
        else:
            symbol = self.resolve(node[1]) if node[0] == "dotted" else None
            found = (symbol,) if symbol is not None else ()
        if len(found) != 1:
            return NOTHING
        shift = 1 if kind in ("around", "after") else 0
        if position < shift:
            return Value(self.of_symbol(found[0])) if kind == "around" else NOTHING
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
            return Value((("object", target.owner, False),))
        if chosen.annotation:
            value = Value(self.typed(target.module, chosen.annotation))
            if value.alternatives:
                return value
        return NOTHING
