"""Names, attributes and registry keys: whether the present release has what a plugin looks up."""

from __future__ import annotations

import ast

from sglang_contracts.plugin.ir.nodes import (
    Attr,
    Call,
    DictOf,
    Foreign,
    Has,
    HasNamed,
    Import,
    Item,
    Iter,
    ListOf,
    Literal,
    LocalClass,
    Node,
    Not,
    Number,
    OneOf,
    Self,
    Text,
    TupleOf,
    Unknown,
    Unpack,
)
from sglang_contracts.plugin.ir.records import File, Use, UseKind
from sglang_contracts.surface.model import Attribute, Class, Function, Role
from sglang_contracts.surface.symbol import Symbol
from sglang_contracts.verify.answers.outcome import OK, UNKNOWN, Outcome, Status
from sglang_contracts.verify.rules.guarded import Guarded
from sglang_contracts.verify.values import builtin_kinds as kinds
from sglang_contracts.verify.values.evaluator import Evaluator
from sglang_contracts.verify.values.value import (
    Builtin,
    DictValue,
    FunctionRef,
    ListValue,
    ObjectOf,
    OwnObject,
    OwnSuper,
    TupleValue,
    Value,
)

_BUILTIN = frozenset({Builtin, ListValue, DictValue, TupleValue})
_SHOWN = frozenset({ListOf, DictOf, TupleOf, Literal, Text, Number})
"""Nodes of values that stand in the plugin's own text."""
_OF_TUPLES = frozenset({"count", "index"})
"""Attributes that a tuple has."""


class Lookups(Guarded):
    """Looks things up by name."""

    def __init__(self, evaluator: Evaluator) -> None:
        super().__init__(evaluator)
        self.written = self._written()
        self.assigned = self._assigned()
        self.asked = [self._asked(file) for file in self.files]

    def _assigned(self) -> dict[str, list[tuple[int, int, int]]]:
        """Attribute → (file, node, value) of what the plugin assigns to it on other objects."""
        found: dict[str, list[tuple[int, int, int]]] = {}
        for index, file in enumerate(self.files):
            for use in file.uses:
                if use.kind is UseKind.WRITE and use.value:
                    node = file.nodes[use.node]
                    if type(node) is Attr and not isinstance(
                        file.nodes[node.base], (Self, LocalClass)
                    ):
                        found.setdefault(node.name, []).append((index, use.node, use.value))
        return found

    def _written(self) -> dict[str, list[tuple[int, int, int]]]:
        """Attribute → places (file, function, line) at which the plugin itself assigns it."""
        found: dict[str, list[tuple[int, int, int]]] = {}
        for index, file in enumerate(self.files):
            for use in file.uses:
                node = file.nodes[use.node]
                if use.kind is UseKind.WRITE and type(node) is Attr:
                    found.setdefault(node.name, []).append((index, use.function, use.line))
        return found

    def imported(self, node: Node) -> Outcome:
        """``from module import name``."""
        if type(node) is not Import:
            return UNKNOWN
        module, name = node.module, node.name
        lens = self.lens
        if not lens.covers(module):
            return UNKNOWN
        if not lens.has_module(module):
            symbol = f"{module}:{name}" if name else module
            # ``from package.Class import x`` is no module at all: it never was one
            return Outcome(Status.BROKEN, "module", symbol, name=name, detail="module")
        if not name:
            return OK
        found = lens.find(module, name)
        if found is not None and not self.evaluator.members.dangling(module, name):
            return Outcome(Status.OK, found=(found,))
        owner = Symbol(module, "", "module", lens.module(module))
        if not lens.covers(f"{module}.{name}") or lens.is_open(owner):
            return UNKNOWN
        return Outcome(Status.BROKEN, "import", f"{module}:{name}", owner=owner, name=name)

    def dotted(self, text: str) -> Outcome:
        """A dotted string."""
        head = text.partition(":")[0]
        if not self.lens.covers(head):
            return UNKNOWN
        found = self.evaluator.members.resolve(text)
        if found is not None:
            return Outcome(Status.OK, found=(found,))
        # as far as it leads: beyond a value, or in an open class, nothing can be said
        parts = text.replace(":", ".").split(".")
        for cut in range(len(parts) - 1, 0, -1):
            before = self.lens.parse(".".join(parts[:cut]))
            if before is None:
                continue
            if before.kind not in ("module", "class") or self.lens.is_open(before):
                return UNKNOWN
            if before.kind == "module" and not self.lens.covers(".".join(parts[: cut + 1])):
                return UNKNOWN
            break
        return Outcome(Status.BROKEN, "attribute", text, name=parts[-1])

    def attribute(self, index: int, file: File, use: Use) -> Outcome:
        """A read, a write or a probe of an attribute."""
        node = file.nodes[use.node]
        if type(node) is not Attr:
            return UNKNOWN
        base, name = node.base, node.name
        value = self.evaluator.value(index, base)
        if not value.alternatives or all(type(each) in _BUILTIN for each in value.alternatives):
            fits = self.of_kind(index, node, use)
            if fits is not None:
                return fits
        if not value.alternatives:
            value = self.evaluator.members.by_attribute(name)
        if not value.alternatives:
            return UNKNOWN
        look = self.evaluator.members.look(value, name)
        pair = self.of_pair(index, node, use, value)
        if pair is not None:
            return pair
        if look.found:
            return Outcome(Status.OK, found=look.found, named=value.named)
        if not look.lost:
            return UNKNOWN
        owner = look.lost[0]
        if self.holds_other(index, base, name):
            return UNKNOWN
        if use.kind is UseKind.READ and self.supplied(index, use, name, owner):
            return UNKNOWN
        if value.named and self.set_upstream(value.named, name):
            return UNKNOWN
        symbol = f"{owner.name}.{name}" if owner.qual else f"{owner.module}:{name}"
        on_object = isinstance(value.alternatives[0], (ObjectOf, OwnObject, OwnSuper))
        loosely = any(type(each) is ObjectOf and each.exact is None for each in value.alternatives)
        if use.kind is UseKind.WRITE and (
            self.still_read(owner, name)
            or self.compatibility(file, use, base)
            or self.put_in(file, use, base, name)
        ):
            return UNKNOWN
        return Outcome(
            Status.BROKEN,
            "attribute",
            symbol,
            owner=owner,
            name=name,
            detail="object" if on_object else "class",
            new="held" if loosely else "",
            named=value.named,
        )

    def of_pair(self, index: int, node: Attr, use: Use, value: Value) -> Outcome | None:
        """An attribute read off the result of a call that is a tuple of several values."""
        held = self.files[index].nodes[node.base]
        if use.kind is not UseKind.READ or type(held) is not Call or node.name in _OF_TUPLES:
            return None
        if not value.alternatives or any(
            type(each) is not TupleValue for each in value.alternatives
        ):
            return None
        called = self.evaluator.value(index, held.callee).alternatives
        first = called[0] if len(called) == 1 else None
        if type(first) is not FunctionRef:
            return None
        function, name = first.symbol, node.name
        return Outcome(
            Status.BROKEN, "result", function.name, owner=function, name=name, named=value.named
        )

    def of_kind(self, index: int, node: Attr, use: Use) -> Outcome | None:
        """An attribute of a builtin or tensor that upstream's annotation says a thing is.

        Nothing is said (None) where the plugin asks what it has, or hands it to somebody who may.
        """
        base, name = node.base, node.name
        if use.kind is not UseKind.READ or base in self.asked[index]:
            return None
        symbol, annotation = self.stated(index, base)
        if symbol is None:
            return None
        allowed = kinds.kinds_of(annotation)
        if not allowed:
            return None
        if any(kinds.offers(kind, name) for kind in allowed):
            return Outcome(Status.OK, "kind", found=(symbol,))
        text = ast.unparse(annotation) if annotation is not None else ""
        return Outcome(Status.BROKEN, "kind", symbol.name, owner=symbol, name=name, new=text)

    def stated(self, index: int, node: int) -> tuple[Symbol | None, ast.expr | None]:
        """The field or function that a node comes from, and what upstream annotates it with."""
        held = self.files[index].nodes[node]
        if type(held) is Attr:
            owner = self.evaluator.value(index, held.base)
            found = self.evaluator.members.look(owner, held.name).found
            if len(found) == 1 and (
                isinstance(found[0].node, Attribute) or found[0].kind == "property"
            ):
                return found[0], kinds.parsed(kinds.stated(found[0]))
        elif type(held) is Call:
            called = self.evaluator.value(index, held.callee).alternatives
            first = called[0] if len(called) == 1 else None
            if type(first) is not FunctionRef or not isinstance(first.symbol.node, Function):
                return None, None
            if not first.symbol.node.role & (Role.ASYNC | Role.GENERATOR):
                return first.symbol, kinds.parsed(kinds.stated(first.symbol))
        elif type(held) is Iter:
            symbol, annotation = self.stated(index, held.base)
            return symbol, kinds.element(annotation)
        elif type(held) is Item or (type(held) is Unpack and held.count == -1):
            symbol, annotation = self.stated(index, held.base)
            return symbol, kinds.element(annotation, keyed=True)
        elif type(held) is Unpack:
            symbol, annotation = self.stated(index, held.base)
            return symbol, kinds.part(annotation, held.position)
        elif type(held) is OneOf:  # ``x.field or []``
            nodes = self.files[index].nodes
            said = [each for each in held.values if type(nodes[each]) not in _SHOWN]
            return self.stated(index, said[0]) if len(said) == 1 else (None, None)
        return None, None

    @staticmethod
    def _asked(file: File) -> frozenset[int]:
        """Values that the plugin looks at, itself or through code not known here."""
        found: set[int] = set()
        for each in file.nodes:
            if (
                type(each) is Has
                or type(each) is HasNamed
                or (type(each) is Attr and each.name == "__class__")
            ):
                found.add(each.base)
            elif type(each) is Call and isinstance(file.nodes[each.callee], (Foreign, Unknown)):
                form = file.forms[each.form]
                found.update(form.positional, form.keywords.values())
        return frozenset(found)

    def compatibility(self, file: File, use: Use, base: int) -> bool:
        """Whether a write adds a lost name where its successor is there: ``if hasattr(…, new)``."""
        guard = use.guard
        while guard:
            record = file.guards[guard]
            if record.kind == "if" and record.positive:
                held = file.nodes[record.condition]
                if type(held) is Has and held.base == base:
                    return True
            guard = record.parent
        return False

    def still_read(self, owner: Symbol, name: str) -> bool:
        """Whether the release reads a name off a class or module that does not define it."""
        receiver = (owner.qual or owner.module).rsplit(".", 1)[-1]
        if name in self.lens.readers(receiver):
            return True
        return owner.kind == "class" and any(
            name in self.read_by(each) for each in self.lens.mro(owner)
        )

    def read_by(self, owner: Symbol) -> frozenset[str]:
        """Names that the methods of a class read or call, of whatever."""

        def work() -> frozenset[str]:
            methods = owner.node.methods.values() if isinstance(owner.node, Class) else ()
            return frozenset(name for each in methods for name in (*each.reads, *each.calls))

        return self.lens.once(("read-by", owner.module, owner.qual), work)

    @staticmethod
    def put_in(file: File, use: Use, base: int, name: str) -> bool:
        """Whether an attribute is written just where it was found missing."""
        guard = use.guard
        while guard:
            record = file.guards[guard]
            if record.kind == "handler":
                return True
            if record.kind == "if":
                node, positive = file.nodes[record.condition], record.positive
                while type(node) is Not:
                    node, positive = file.nodes[node.condition], not positive
                if not positive and node == Has(base, name):
                    return True
            guard = record.parent
        return False

    def holds_other(self, index: int, base: int, name: str) -> bool:
        """Whether the plugin itself puts an object that has the name where it reads it.

        What an annotation says of ``item.stats`` is not all there is where the plugin writes
        ``item.stats = Own()`` elsewhere.
        """
        held = self.files[index].nodes[base]
        if type(held) is not Attr:
            return False
        evaluator = self.evaluator
        holder = evaluator.value(index, held.base).alternatives
        for file, node, value in self.assigned.get(held.name, ()):
            written = evaluator.value(file, value)
            if not written.alternatives or evaluator.members.look(written, name).lost:
                continue
            target = self.files[file].nodes[node]
            assert type(target) is Attr
            other = evaluator.value(file, target.base).alternatives
            if not other or not holder or set(other) & set(holder):
                return True
        return False

    def supplied(self, index: int, use: Use, name: str, owner: Symbol) -> bool:
        """Whether the plugin itself sets the attribute before this read can happen."""
        for file, function, line in self.written.get(name, ()):
            if (file, function) != (index, use.function) or line < use.line:
                return True
        return False

    def set_upstream(self, receiver: str, name: str) -> bool:
        """Whether the release sets the attribute from outside on what goes by that name."""
        return len(self.lens.writers(receiver).get(name, ())) > 1

    def registry(self, index: int, file: File, use: Use) -> Outcome:
        """A table read by a constant key, or one that has to be without it.

        What is put in the place of an entry of SGLang's is meant to, unless the plugin says not.
        """
        if use.kind is UseKind.REGISTER and not use.count:
            return UNKNOWN
        symbol = self.evaluator.questions.table(index, file.nodes[use.node])
        there = (
            self.evaluator.questions.registered_in(symbol, use.name) if symbol is not None else None
        )
        if symbol is None or there is None:
            return UNKNOWN
        if there == (use.kind is UseKind.ITEM):
            return Outcome(Status.OK, found=(symbol,))
        return Outcome(
            Status.BROKEN,
            "registry" if use.kind is UseKind.ITEM else "taken",
            f'{symbol.name}["{use.name}"]',
            owner=symbol,
            name=use.name,
        )
