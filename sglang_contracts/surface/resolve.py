"""What classes are made of: bases in order of look-up, fields, constructors.

Functions over the names of one release; :class:`~sglang_contracts.surface.surface.Surface` has them
as methods, where what they ask can be watched.
"""

from __future__ import annotations

import re
from typing import Protocol

import msgspec

from sglang_contracts.surface.meaning import Names
from sglang_contracts.surface.model import (
    Attribute,
    Class,
    Function,
    Kind,
    Module,
    Parameter,
    ParameterKind,
)
from sglang_contracts.surface.symbol import Symbol

_DOTTED = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")
_RECORD_KINDS = Kind.DATACLASS | Kind.STRUCT | Kind.NAMEDTUPLE | Kind.PYDANTIC


class Resolved(Names, Protocol):
    """Looks up the names of one release, and what is known of its classes."""

    def module(self, name: str) -> Module | None:
        """One module's record; None where there is none."""

    def covers(self, name: str) -> bool:
        """Whether a package is recorded at all."""

    def mro(self, owner: Symbol) -> tuple[Symbol, ...]:
        """A class and its recorded bases, in the order in which members are looked up."""

    def kind(self, owner: Symbol) -> Kind:
        """The kind of a class, what it inherits of it included."""

    def is_open(self, symbol: Symbol) -> bool:
        """Whether the absence of a name in a symbol proves nothing."""


def constructor(names: Resolved, owner: Symbol) -> Function | None:
    """How a class is called: its ``__init__``, or one made from its fields; None: not known."""
    for each in names.mro(owner):
        node = each.node
        if not isinstance(node, Class):
            return None
        if "__init__" in node.methods:
            return node.methods["__init__"]
        if node.kind & Kind.DATACLASS or (names.kind(each) & (_RECORD_KINDS & ~Kind.DATACLASS)):
            return Function(parameters=(Parameter("self"), *_parameters(names, each)))
        if "__new__" in node.methods:
            return node.methods["__new__"]
    if names.is_open(owner) or names.kind(owner) & Kind.ENUM:
        return None
    return Function(parameters=(Parameter("self"),))


def fields(names: Resolved, owner: Symbol) -> dict[str, Attribute]:
    """Fields of a dataclass, Struct, NamedTuple or model in constructor order."""
    out: dict[str, Attribute] = {}
    for each in reversed(names.mro(owner)):
        # Annotations of a mixin that is no record itself are hints, not fields.
        if isinstance(each.node, Class) and (
            each.node.kind & Kind.DATACLASS or names.kind(each) & _RECORD_KINDS & ~Kind.DATACLASS
        ):
            for name, attribute in each.node.attributes.items():
                if attribute.annotation and not attribute.on_self:
                    out[name] = attribute
    return out


def _parameters(names: Resolved, owner: Symbol) -> list[Parameter]:
    kind = names.kind(owner)
    keyword_only = bool(kind & (Kind.KW_ONLY | Kind.PYDANTIC))
    out: list[Parameter] = []
    for name, attribute in fields(names, owner).items():
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


def assembled(names: Resolved, module: str, name: str, record: Module) -> Class:
    """A class as it is after the module ran: ``ServerArgs`` gets its fields from namespaces."""
    node = record.classes[name]
    rebound = record.values.get(name)
    if rebound is None or not rebound.value.startswith("msgspec.defstruct("):
        return node
    order: list[str] = []
    declared: dict[str, Attribute] = {}
    for bound, target in record.imports.items():
        source = names.module(target.module) if names.covers(target.module) else None
        found = source.classes.get(target.name or bound) if source is not None else None
        if found is None or "_NS_PATH" not in found.attributes:
            continue
        for each, attribute in found.attributes.items():
            if attribute.annotation and not attribute.on_self:
                declared.setdefault(each, attribute)
        package = names.module(target.module.rpartition(".")[0])
        imported = package.imports.get("POSITIONAL_FIELD_ORDER") if package else None
        listing = names.module(imported.module) if imported else None
        if listing is not None and not order:
            order = list(listing.values["POSITIONAL_FIELD_ORDER"].keys)
    ordered = [each for each in order if each in declared]
    ordered += [each for each in declared if each not in set(order)]
    return msgspec.structs.replace(
        node,
        kind=node.kind | Kind.STRUCT,
        attributes={each: declared[each] for each in ordered} | dict(node.attributes),
    )


def linearised(names: Resolved, owner: Symbol) -> tuple[tuple[Symbol, ...], tuple[str, ...]]:
    """A class and its recorded bases in order of look-up; and its bases that are not recorded."""
    node = owner.node
    if not isinstance(node, Class):
        return (owner,), ()
    order: list[Symbol] = [owner]
    outside: list[str] = []
    for text in node.bases:
        base = _base(names, owner, text.partition("[")[0])
        if base is None or base.kind != "class":
            outside.append(text.partition("[")[0])
        else:
            order += names.mro(base)
    # Keep the last of what comes twice: a common base stands after all that derive from it.
    last = {(each.module, each.qual): index for index, each in enumerate(order)}
    kept = (each for index, each in enumerate(order) if last[(each.module, each.qual)] == index)
    return tuple(kept), tuple(outside)


def _base(names: Resolved, owner: Symbol, text: str) -> Symbol | None:
    if not _DOTTED.fullmatch(text):
        return None
    first, *rest = text.split(".")
    found: Symbol | None = None
    if owner.owner is not None and isinstance(owner.owner.node, Class):
        inner = owner.owner.node.classes.get(first)
        if inner is not None:
            found = Symbol(owner.module, f"{owner.owner.qual}.{first}", "class", inner, owner.owner)
    found = found or names.scope(owner.module, first)
    for part in rest:
        if found is None:
            return None
        found = (
            names.top(found.module, part) if found.kind == "module" else names.member(found, part)
        )
    return found
