"""Attributes of values: what each is, or who lacks it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sglang_contracts.surface.model import Function as Recorded
from sglang_contracts.surface.model import Kind, Role
from sglang_contracts.surface.symbol import Symbol
from sglang_contracts.verify.answers.lens import Lens
from sglang_contracts.verify.values.annotations import Annotations
from sglang_contracts.verify.values.ask import Ask
from sglang_contracts.verify.values.plugin_index import PluginIndex
from sglang_contracts.verify.values.test_modules import is_test
from sglang_contracts.verify.values.value import (
    NOTHING,
    Alternative,
    ClassRef,
    FunctionRef,
    Look,
    ModuleRef,
    ObjectOf,
    OwnClassRef,
    OwnFunctionRef,
    OwnModuleRef,
    OwnObject,
    OwnSuper,
    Place,
    Value,
    is_weak,
    one,
    union,
)

_ANCESTORS = 100
"""Own classes above one that are looked through for a member: of more nothing is said."""
_SPECIAL = frozenset({"name", "value", "_name_", "_value_", "__members__", "mro"})


class Members:
    """Objects by name, and attributes of values, in the present release of a lens.

    Args:
        index: The plugin.
        lens: The releases.
        annotations: What types of the release mean.
        ask: The evaluator.
        known_as: Conventional name → spellings of classes.
        distinctive: Attribute whose name alone tells what is meant → spellings of its class.
    """

    def __init__(
        self,
        index: PluginIndex,
        lens: Lens,
        annotations: Annotations,
        ask: Ask,
        known_as: Mapping[str, Sequence[str]],
        distinctive: Mapping[str, Sequence[str]],
    ) -> None:
        self.index = index
        self.files = index.files
        self.lens = lens
        self.annotations = annotations
        self.ask = ask
        self.known_as = known_as
        self.distinctive = distinctive
        self._searched: dict[tuple[int, str, str, bool], Look | None] = {}
        """Own classes looked through in the search at hand."""

    def known(self, name: str, node: Place | None) -> Value:
        """An object by the name it goes by; unknown for names nobody has said anything of."""
        spellings = self.known_as.get(name)
        if not spellings:
            return self.by_class_name(name)
        candidates: list[Symbol] = []
        for spelling in spellings:
            symbol = self.lens.parse(spelling)
            if symbol is not None and symbol.kind == "class" and symbol not in candidates:
                candidates.append(symbol)
        if not candidates:
            return NOTHING
        if is_weak(name):
            if node is None:
                return NOTHING
            attributes = self.index.attributes.get(node, set())
            telling = any(each.count("_") >= 2 for each in attributes)
            candidates = [
                symbol
                for symbol in candidates
                if telling
                or (
                    len(attributes) >= 2
                    and any(self.lens.member(symbol, each) is not None for each in attributes)
                )
            ]
        return Value(tuple(ObjectOf(each, False) for each in candidates), name)

    def by_class_name(self, name: str) -> Value:
        """``radix_cache`` is a ``RadixCache``, where exactly one class has that name."""
        words = name.strip("_").split("_")
        if len(words) < 2 or not all(word.isalpha() and word.islower() for word in words):
            return NOTHING
        title = "".join(word.capitalize() for word in words)
        places = [
            place
            for place in self.lens.places(title)
            if ":" not in place and place.startswith("sglang.srt.")
        ]
        if len(places) != 1:
            return NOTHING
        symbol = self.lens.top(places[0], title)
        if symbol is None or symbol.kind != "class":
            return NOTHING
        return Value((ObjectOf(symbol, False),), name)

    def by_attribute(self, name: str) -> Value:
        """An object of which nothing is known but that an attribute of a telling name is read."""
        for spelling in self.distinctive.get(name, ()):
            symbol = self.lens.parse(spelling)
            if symbol is not None and symbol.kind == "class":
                return Value((ObjectOf(symbol, False),), name)
        return NOTHING

    def look(self, value: Value, name: str) -> Look:
        """An attribute of a value."""
        values: list[Value] = []
        found: list[Symbol] = []
        lost: list[Symbol] = []
        unknown = not value.alternatives
        for each in value.alternatives:
            one = self._look(each, name)
            if one is None:
                unknown = True
                continue
            found += one.found
            if one.lost:
                lost += one.lost
            else:
                values.append(one.value)
        if found or unknown or values:
            lost = []
        if value.named and any(self.beside(each, name) for each in lost):
            lost = []
        result = union(values) if values and not unknown else NOTHING
        return Look(
            Value(result.alternatives, result.named or value.named), tuple(found), tuple(lost)
        )

    def _look(self, each: Alternative, name: str) -> Look | None:
        """One alternative; None where nothing can be said."""
        if type(each) is ObjectOf:
            symbol, exact = each.symbol, each.exact
            return self.lens.once(
                ("object-member", symbol, name, exact),
                lambda: self._object_member(symbol, name, exact),
            )
        if type(each) is OwnObject:
            return self._own_member(each.file, each.qual, name, instance=True)
        if type(each) is ModuleRef:
            return self._module_member(each.name, name)
        if type(each) is ClassRef:
            return self._class_member(each.symbol, name)
        if type(each) is OwnClassRef:
            return self._own_member(each.file, each.qual, name, instance=False)
        if type(each) is OwnSuper:
            return self._own_bases(each.file, each.qual, name, instance=True)
        if type(each) is OwnModuleRef:
            value = self.ask.own_member(each.name, name)
            return Look(value) if value.alternatives else None
        return None

    def _module_member(self, module: str, name: str) -> Look | None:
        symbol = self.lens.top(module, name)
        if symbol is not None and not self.dangling(module, name):
            return Look(Value(self.annotations.of_symbol(symbol)), (symbol,))
        owner = Symbol(module, "", "module", self.lens.module(module))
        if not self.lens.covers(f"{module}.{name}") or self.lens.is_open(owner):
            return None
        return Look(NOTHING, (), (owner,))

    def resolve(self, text: str) -> Symbol | None:
        """What a dotted string names."""
        module, colon, qual = text.partition(":")
        if colon:
            # the module part may itself end in a class
            found = self.lens.find(module, qual)
            return found if found is not None else self.lens.parse(f"{module}.{qual}")
        return self.lens.parse(text)

    def dangling(self, module: str, name: str) -> bool:
        """Whether a module imports a name, unconditionally, from where it is not."""
        record = self.lens.module(module)
        target = record.imports.get(name) if record is not None else None
        if target is None or target.condition or target.local or not target.name:
            return False
        if not self.lens.covers(target.module) or not self.lens.has_module(target.module):
            return False
        found = self.lens.find(target.module, target.name)
        owner = Symbol(target.module, "", "module", self.lens.module(target.module))
        return found is None and not self.lens.is_open(owner)

    def _class_member(self, symbol: Symbol, name: str) -> Look | None:
        found = self.lens.member(symbol, name)
        if found is not None:
            node = found.node
            if isinstance(node, Recorded):
                if found.kind == "property":
                    return Look(NOTHING, (found,))
                return Look(one(FunctionRef(found, bool(node.role & Role.CLASS))), (found,))
            return Look(self.annotations.member_value(found, name), (found,))
        if name == "__init__":
            return Look(NOTHING, (symbol,))
        if self.closed(symbol, name) and not self.registered(symbol, name):
            return Look(NOTHING, (), (symbol,))
        return None

    def registered(self, symbol: Symbol, name: str) -> bool:
        """Whether a class that keeps a register of itself has an entry of that name."""
        if self.lens.member(symbol, "register") is None:
            return False
        record = self.lens.module(symbol.module)
        helpers = [each for each in record.functions if "register" in each] if record else []
        return any(name in self.lens.registrations(each) for each in ("register", *helpers))

    def _object_member(self, symbol: Symbol, name: str, exact: bool | None) -> Look | None:
        found = self.lens.member(symbol, name)
        if found is not None:
            return Look(self.annotations.member_value(found, name), (found,))
        if not self.closed(symbol, name) or (not exact and self.in_subclass(symbol, name)):
            return None
        if exact is None and self.beside(symbol, name):
            return None
        return Look(NOTHING, (), (symbol,))

    def closed(self, symbol: Symbol, name: str) -> bool:
        """Whether a name that a class lacks is certainly not there."""
        if name.startswith("__") and name.endswith("__"):
            return False
        if self.lens.is_open(symbol) or self.lens.kind(symbol) & Kind.PROTOCOL:
            return False
        return not (name in _SPECIAL and self.lens.kind(symbol) & Kind.ENUM)

    def in_subclass(self, symbol: Symbol, name: str) -> bool:
        """Whether some class derived from it has the name: an instance may be one of those."""
        return any(
            symbol.name in definer[1:] and not is_test(definer[0].partition(":")[0])
            for definer in self.lens.definers(name)
        )

    def beside(self, symbol: Symbol, name: str) -> bool:
        """Whether a class of the same family has a name: what merely goes by a name may be one."""
        if symbol.kind != "class":
            return False
        family = {each.name for each in self.lens.mro(symbol)}
        return any(
            not family.isdisjoint(definer) and not is_test(definer[0].partition(":")[0])
            for definer in self.lens.definers(name)
        )

    def _own_member(self, file: int, qual: str, name: str, instance: bool) -> Look | None:
        record = self.files[file].classes.get(qual)
        if record is None:
            return None
        if name in record.methods:
            number = record.methods[name]
            method = self.files[file].functions[number]
            if method.kind == "property":
                return Look(self.ask.own_returned(file, number) if instance else NOTHING)
            bound = (instance and method.kind != "static") or method.kind == "class"
            return Look(one(OwnFunctionRef(file, number, bound)))
        if name in record.declared:
            declared = self.ask.value(file, record.declared[name])
            if declared.alternatives:
                return Look(declared)
        if name in record.attributes:
            values = [self.ask.value(file, node) for node in record.attributes[name]]
            kept = [value for value in values if not value.is_none()]
            return Look(union(kept) if kept else NOTHING)
        return self._own_bases(file, qual, name, instance)

    def _own_bases(self, file: int, qual: str, name: str, instance: bool) -> Look | None:
        """A member in the bases; within one search each class is looked through once."""
        key = (file, qual, name, instance)
        if key in self._searched:
            return self._searched[key]
        if len(self._searched) > _ANCESTORS:
            return None
        outermost = not self._searched
        self._searched[key] = None  # a class that inherits from itself ends here
        found = self._searched[key] = self._in_bases(file, qual, name, instance)
        if outermost:
            self._searched.clear()
        return found

    def _in_bases(self, file: int, qual: str, name: str, instance: bool) -> Look | None:
        record = self.files[file].classes.get(qual)
        if record is None:
            return None
        lost: list[Symbol] = []
        unknown = record.open or record.decorated
        at, bases = file, record.bases or record.selves[:1]
        host = None if bases else self.index.host(file, qual)
        if host is not None:
            at, bases = host[0], self.index.bases_behind(host, (file, qual))
            unknown = unknown or not self._plain(host, (file, qual), name)
        for base in bases:
            value = self.ask.value(at, base)
            if len(value.alternatives) != 1:
                unknown = True
                continue
            each = value.alternatives[0]
            if type(each) is ObjectOf and instance:
                look = self._object_member(each.symbol, name, False)
            elif type(each) is ClassRef:
                look = (
                    self._object_member(each.symbol, name, True)
                    if instance
                    else self._class_member(each.symbol, name)
                )
            elif type(each) is OwnClassRef and each != OwnClassRef(file, qual):
                look = self._own_member(each.file, each.qual, name, instance)
            else:
                look = None
            if look is None:
                unknown = True
            elif look.lost:
                lost += look.lost
            else:
                return look
        if unknown or not lost:
            return None
        return Look(NOTHING, (), tuple(lost))

    def _plain(self, host: tuple[int, str], mixin: tuple[int, str], name: str) -> bool:
        """Whether a class adds nothing of a name to what stands behind a mixin of its own."""
        record = self.files[host[0]].classes[host[1]]
        before = len(record.bases) - len(self.index.bases_behind(host, mixin)) - 1
        return not (
            before
            or record.open
            or record.decorated
            or name in record.methods
            or name in record.attributes
            or name in record.declared
        )

    def upstream_bases(self, file: int, qual: str, depth: int = 0) -> tuple[list[Symbol], bool]:
        """The nearest upstream classes of an own class, and whether all its bases are known."""
        record = self.files[file].classes.get(qual)
        if record is None or depth > 10:
            return [], False
        found: list[Symbol] = []
        complete = not record.open
        at, bases = file, record.bases
        host = None if bases else self.index.host(file, qual)
        if host is not None:
            at, bases = host[0], self.index.bases_behind(host, (file, qual))
        for base in bases:
            value = self.ask.value(at, base)
            if len(value.alternatives) != 1:
                complete = False
                continue
            each = value.alternatives[0]
            if type(each) is ClassRef:
                found.append(each.symbol)
            elif type(each) is OwnClassRef:
                inner, whole = self.upstream_bases(each.file, each.qual, depth + 1)
                found += inner
                complete = complete and whole
            else:
                complete = False
        return list(dict.fromkeys(found)), complete

    def base_member(self, file: int, qual: str, name: str) -> Symbol | None:
        """The upstream member that a name in an own class overrides."""
        for symbol in self.upstream_bases(file, qual)[0]:
            found = self.lens.member(symbol, name)
            if found is not None:
                return found
        return None
