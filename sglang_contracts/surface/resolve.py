"""Names over modules: what a dotted name means in a release, inherited members included.

Everything that makes a name *be there* without a definition in its module is followed here:
re-exports, star imports, lazy ``__getattr__``, submodules of namespace packages, aliases, base
classes in other modules, classes assembled at import (``ServerArgs`` since 0.5.20).
"""

from __future__ import annotations

import bisect
import re

import msgspec

from sglang_contracts.surface.meaning import classes_meant, strings_meant
from sglang_contracts.surface.model import (
    Attribute,
    Class,
    Condition,
    Function,
    Import,
    Kind,
    Module,
    Parameter,
    ParameterKind,
    Role,
    Value,
)
from sglang_contracts.surface.symbol import CLOSED_BASES, Symbol, SymbolKind

_DOTTED = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")
_RECORD_KINDS = Kind.DATACLASS | Kind.STRUCT | Kind.NAMEDTUPLE | Kind.PYDANTIC


class Resolver:
    """Resolves names of one release. A subclass says where modules come from."""

    def __init__(self) -> None:
        self._tops: dict[tuple[str, str], Symbol | None] = {}
        self._mros: dict[tuple[str, str], tuple[Symbol, ...]] = {}
        self._externals: dict[tuple[str, str], tuple[str, ...]] = {}
        self._types: dict[tuple[str, str], tuple[Symbol, ...]] = {}
        self._ordered: list[str] | None = None

    def module(self, name: str) -> Module | None:
        """One module's record, or None."""
        raise NotImplementedError

    def module_names(self) -> frozenset[str]:
        """Names of all modules."""
        raise NotImplementedError

    @staticmethod
    def covers(name: str) -> bool:
        """Whether a package is recorded at all."""
        raise NotImplementedError

    def has_module(self, name: str) -> bool:
        """Whether ``import name`` finds something: a module, or a folder of modules without one."""
        return self.module(name) is not None or self.is_package(name)

    def is_package(self, name: str) -> bool:
        """Whether there is a module inside it."""
        if self._ordered is None:
            self._ordered = sorted(self.module_names())
        inside = f"{name}."
        at = bisect.bisect_left(self._ordered, inside)
        return at < len(self._ordered) and self._ordered[at].startswith(inside)

    def find(self, module: str, dotted: str = "") -> Symbol | None:
        """What ``module`` offers at run time under a dotted name.

        Args:
            module: Absolute module name.
            dotted: Name in it (``Class.method``); empty: the module itself.

        Returns:
            The symbol where it is defined, or None. What lies beyond a value or an external object
            cannot be told and is None: see :meth:`is_open`.
        """
        if not self.has_module(module):
            return None
        symbol: Symbol | None = Symbol(module, "", "module", self.module(module))
        for part in dotted.split(".") if dotted else ():
            if symbol is None:
                return None
            if symbol.kind == "module":
                symbol = self.top(symbol.module, part)
            elif symbol.kind == "class":
                symbol = self.member(symbol, part)
            else:
                return None
        return symbol

    def parse(self, name: str) -> Symbol | None:
        """:meth:`find` for one spelling: ``module:Qual.name``, or dots alone."""
        module, colon, qual = name.partition(":")
        if colon:
            return self.find(module, qual)
        parts = name.split(".")
        for cut in range(len(parts), 0, -1):
            if self.has_module(".".join(parts[:cut])):
                return self.find(".".join(parts[:cut]), ".".join(parts[cut:]))
        return None

    def own(self, module: str, name: str) -> Symbol | None:
        """A class or function of that name in the module's own text; None where it has none.

        A class that the module binds anew below its text is not told apart here.
        """
        record = self.module(module)
        if record is None:
            return None
        node = record.classes.get(name)
        if node is not None and not node.condition & Condition.TYPE_CHECKING:
            return None if name in record.values else Symbol(module, name, "class", node)
        function = record.functions.get(name)
        if function is not None and not function.condition & Condition.TYPE_CHECKING:
            return Symbol(module, name, "function", function)
        return None

    def top(self, module: str, name: str) -> Symbol | None:
        """A module-level name, as it is there at run time."""
        return self._top(module, name, frozenset())

    def scope(self, module: str, name: str) -> Symbol | None:
        """A name as an annotation means it: ``TYPE_CHECKING`` and local imports count, too."""
        found = self.top(module, name)
        if found is not None:
            return found
        record = self.module(module)
        if record is None:
            return None
        if name in record.classes:
            return Symbol(module, name, "class", self._assembled(module, name, record))
        target = record.imports.get(name)
        return self._imported(module, target, frozenset()) if target is not None else None

    def member(self, owner: Symbol, name: str) -> Symbol | None:
        """A member of a class, its own or inherited; in the class that defines it."""
        for each in self.mro(owner):
            node = each.node
            if not isinstance(node, Class):
                continue
            qual = f"{each.qual}.{name}"
            if name in node.methods:
                function = node.methods[name]
                kind: SymbolKind = "property" if function.role & Role.PROPERTY else "method"
                return Symbol(each.module, qual, kind, function, each)
            if name in node.attributes:
                attribute = node.attributes[name]
                enum = node.kind & Kind.ENUM and not attribute.on_self
                return Symbol(
                    each.module, qual, "enum-member" if enum else "attribute", attribute, each
                )
            if name in node.classes:
                return Symbol(each.module, qual, "class", node.classes[name], each)
        return None

    def members(self, owner: Symbol) -> dict[str, Symbol]:
        """All members of a class by name, inherited ones included."""
        out: dict[str, Symbol] = {}
        for each in self.mro(owner):
            if isinstance(each.node, Class):
                for name in (*each.node.methods, *each.node.attributes, *each.node.classes):
                    if name not in out:
                        found = self.member(owner, name)
                        if found is not None:
                            out[name] = found
        return out

    def member_names(self, owner: Symbol) -> set[str]:
        """Names of all members of a class, inherited ones included."""
        out: set[str] = set()
        for each in self.mro(owner):
            if isinstance(each.node, Class):
                out.update(each.node.methods, each.node.attributes, each.node.classes)
        return out

    def mro(self, owner: Symbol) -> tuple[Symbol, ...]:
        """The class and its recorded bases, in the order in which members are looked up.

        Of a class that was found in another release the form in this one counts, if it has one.
        """
        key = (owner.module, owner.qual)
        known = self._mros.get(key)
        if known is None:
            self._mros[key] = (owner,)  # a class that inherits from itself ends here
            own = self.find(owner.module, owner.qual)
            known = self._linearise(own if own == owner and own.node is not None else owner)
            self._mros[key] = known
        return known

    def externals(self, owner: Symbol) -> tuple[str, ...]:
        """Bases, of the class or of any of its bases, that lie outside what is recorded."""
        out: list[str] = []
        for each in self.mro(owner):
            out += self._externals.get((each.module, each.qual), ())
        return tuple(dict.fromkeys(out))

    def is_open(self, symbol: Symbol) -> bool:
        """Whether the absence of a name in a symbol proves nothing."""
        if symbol.kind == "module":
            record = self.module(symbol.module)
            if record is None:
                return False
            return record.lazy == () or bool(record.problem)
        if symbol.kind != "class":
            return True
        if any(
            isinstance(each.node, Class) and each.node.kind & Kind.OPEN for each in self.mro(symbol)
        ):
            return True
        return any(base not in CLOSED_BASES for base in self.externals(symbol))

    def kind(self, owner: Symbol) -> Kind:
        """The kind of a class, what it inherits of it included."""
        kind = Kind(0)
        for index, each in enumerate(self.mro(owner)):
            if isinstance(each.node, Class):
                own = each.node.kind
                # What a decorator makes of a base does not pass on; what a base class is does,
                # but a class that implements a protocol is none.
                passed = ~(Kind.DATACLASS | Kind.KW_ONLY | Kind.PROTOCOL)
                kind |= own if not index else own & passed
        return kind

    def constructor(self, owner: Symbol) -> Function | None:
        """How a class is called: its ``__init__``, or one made from its fields; None: not known."""
        for each in self.mro(owner):
            node = each.node
            if not isinstance(node, Class):
                return None
            if "__init__" in node.methods:
                return node.methods["__init__"]
            if node.kind & Kind.DATACLASS or (self.kind(each) & (_RECORD_KINDS & ~Kind.DATACLASS)):
                return Function(parameters=(Parameter("self"), *self._fields(each)))
            if "__new__" in node.methods:
                return node.methods["__new__"]
        if self.is_open(owner) or self.kind(owner) & Kind.ENUM:
            return None
        return Function(parameters=(Parameter("self"),))

    def fields(self, owner: Symbol) -> dict[str, Attribute]:
        """Fields of a dataclass, Struct, NamedTuple or model in constructor order."""
        out: dict[str, Attribute] = {}
        for each in reversed(self.mro(owner)):
            # Annotations of a mixin that is no record itself are hints, not fields.
            if isinstance(each.node, Class) and (
                each.node.kind & Kind.DATACLASS or self.kind(each) & _RECORD_KINDS & ~Kind.DATACLASS
            ):
                for name, attribute in each.node.attributes.items():
                    if attribute.annotation and not attribute.on_self:
                        out[name] = attribute
        return out

    def annotation_type(self, module: str, text: str) -> tuple[Symbol, ...]:
        """The classes an annotation can mean; () where that is not known for all alternatives.

        ``Optional``, ``Union``, ``|``, quotes and ``Annotated`` are unwrapped; None is left out.
        """
        if not text:
            return ()
        key = (module, text)
        known = self._types.get(key)
        if known is None:
            self._types[key] = ()  # an annotation that stands for itself ends here
            known = self._types[key] = classes_meant(self, module, text)
        return known

    def strings(self, module: str, text: str) -> tuple[str, ...] | None:
        """The strings a display, or a name for one, stands for; None where it is anything else."""
        return strings_meant(self, module, text)

    # -- how a name is found -----------------------------------------------------------------

    def _top(self, module: str, name: str, seen: frozenset[tuple[str, str]]) -> Symbol | None:
        key = (module, name)
        if key in self._tops:
            return self._tops[key]
        if key in seen:
            return None
        found = self._look(module, name, seen | {key})
        if not seen:  # inside a cycle of stars an answer may be partial: keep only whole ones
            self._tops[key] = found
        return found

    def _look(self, module: str, name: str, seen: frozenset[tuple[str, str]]) -> Symbol | None:
        record = self.module(module)
        if record is None:
            below = f"{module}.{name}"
            return (
                Symbol(below, "", "module", self.module(below)) if self.has_module(below) else None
            )
        definition = self._defined(module, name, record, seen)
        if definition is not None:
            return definition
        target = record.imports.get(name)
        if target is not None and not target.condition & Condition.TYPE_CHECKING:
            lazily = target.local and record.lazy is not None and name in record.lazy
            if not target.local or lazily:
                return self._imported(module, target, seen)
        below = f"{module}.{name}"
        if self.has_module(below):
            return Symbol(below, "", "module", self.module(below))
        for star in record.stars:
            source = self.module(star)
            exports = source.exports if source is not None else None
            # A module that has put another in its own place offers its private names as well.
            hidden = name.startswith("_") and record.lazy is None
            if name not in exports if exports is not None else hidden:
                continue
            found = self._top(star, name, seen)
            if found is not None:
                return found
        if record.lazy and name in record.lazy:
            return Symbol(module, name, "value", Value())
        if name in ("__file__", "__name__", "__doc__", "__path__", "__all__", "__dict__"):
            return Symbol(module, name, "value", Value())
        return None

    def _defined(
        self, module: str, name: str, record: Module, seen: frozenset[tuple[str, str]]
    ) -> Symbol | None:
        own = self.own(module, name)
        if own is not None:
            return own
        node = record.classes.get(name)
        if node is not None and not node.condition & Condition.TYPE_CHECKING:
            return Symbol(module, name, "class", self._assembled(module, name, record))
        value = record.values.get(name)
        if value is None or value.condition & Condition.TYPE_CHECKING:
            return None
        if _DOTTED.fullmatch(value.value) and value.value not in ("None", "True", "False", name):
            first, *rest = value.value.split(".")
            alias = self._top(module, first, seen)
            for part in rest:
                if alias is None:
                    break
                if alias.kind == "module":
                    alias = self._top(alias.module, part, seen)
                elif alias.kind == "class":
                    alias = self.member(alias, part)
                else:
                    alias = None
            if alias is not None and alias.kind in ("class", "function", "module"):
                return alias
        return Symbol(module, name, "value", value)

    def _imported(
        self, module: str, target: Import, seen: frozenset[tuple[str, str]]
    ) -> Symbol | None:
        if not self.covers(target.module):
            return Symbol(target.module, target.name, "external")
        if not target.name:
            found = self.find(target.module)
        else:
            found = self._top(target.module, target.name, seen)
        # An import that leads nowhere would have failed already when the module was imported,
        # unless it is guarded: what it gives is not known.
        return found or Symbol(target.module, target.name, "external")

    def _assembled(self, module: str, name: str, record: Module) -> Class:
        """A class as it is after the module ran: ``ServerArgs`` gets its fields from namespaces."""
        node = record.classes[name]
        rebound = record.values.get(name)
        if rebound is None or not rebound.value.startswith("msgspec.defstruct("):
            return node
        order: list[str] = []
        declared: dict[str, Attribute] = {}
        for bound, target in record.imports.items():
            source = self.module(target.module) if self.covers(target.module) else None
            found = source.classes.get(target.name or bound) if source is not None else None
            if found is None or "_NS_PATH" not in found.attributes:
                continue
            for each, attribute in found.attributes.items():
                if attribute.annotation and not attribute.on_self:
                    declared.setdefault(each, attribute)
            package = self.module(target.module.rpartition(".")[0])
            imported = package.imports.get("POSITIONAL_FIELD_ORDER") if package else None
            listing = self.module(imported.module) if imported else None
            if listing is not None and not order:
                order = list(listing.values["POSITIONAL_FIELD_ORDER"].keys)
        ordered = [each for each in order if each in declared]
        ordered += [each for each in declared if each not in set(order)]
        return msgspec.structs.replace(
            node,
            kind=node.kind | Kind.STRUCT,
            attributes={each: declared[each] for each in ordered} | dict(node.attributes),
        )

    def _linearise(self, owner: Symbol) -> tuple[Symbol, ...]:
        node = owner.node
        if not isinstance(node, Class):
            return (owner,)
        order: list[Symbol] = [owner]
        outside: list[str] = []
        for text in node.bases:
            base = self._base(owner, text.partition("[")[0])
            if base is None or base.kind != "class":
                outside.append(text.partition("[")[0])
            else:
                order += self.mro(base)
        self._externals[(owner.module, owner.qual)] = tuple(outside)
        # Keep the last of what comes twice: a common base stands after all that derive from it.
        last = {(each.module, each.qual): index for index, each in enumerate(order)}
        return tuple(
            each for index, each in enumerate(order) if last[(each.module, each.qual)] == index
        )

    def _base(self, owner: Symbol, text: str) -> Symbol | None:
        if not _DOTTED.fullmatch(text):
            return None
        first, *rest = text.split(".")
        found: Symbol | None = None
        if owner.owner is not None and isinstance(owner.owner.node, Class):
            inner = owner.owner.node.classes.get(first)
            if inner is not None:
                found = Symbol(
                    owner.module, f"{owner.owner.qual}.{first}", "class", inner, owner.owner
                )
        found = found or self.scope(owner.module, first)
        for part in rest:
            if found is None:
                return None
            found = (
                self.top(found.module, part) if found.kind == "module" else self.member(found, part)
            )
        return found

    def _fields(self, owner: Symbol) -> list[Parameter]:
        kind = self.kind(owner)
        keyword_only = bool(kind & (Kind.KW_ONLY | Kind.PYDANTIC))
        out: list[Parameter] = []
        for name, attribute in self.fields(owner).items():
            if attribute.annotation.endswith("KW_ONLY"):
                keyword_only = True
                continue
            if not attribute.keyword or attribute.annotation.startswith(
                ("ClassVar", "typing.ClassVar")
            ):
                continue
            default = attribute.value
            maker = re.match(r"(\w+\.)*(field|Field)\(", default)
            if maker and "default" not in default and not re.search(r"[Ff]ield\(['\[{\d]", default):
                default = ""
            own = "kw_only=True" in attribute.value
            only = keyword_only or own
            parameter_kind = ParameterKind.KEYWORD_ONLY if only else ParameterKind.POSITIONAL
            out.append(Parameter(name, parameter_kind, attribute.annotation, default))
        return sorted(out, key=lambda each: each.kind == ParameterKind.KEYWORD_ONLY)
