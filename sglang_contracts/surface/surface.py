"""One release: what its names mean, and the facts that are recorded of it.

Everything that makes a name *be there* without a definition in its module is followed here:
re-exports, star imports, lazy ``__getattr__``, submodules of namespace packages, aliases, base
classes in other modules, classes assembled at import (``ServerArgs`` since 0.5.20).
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any

import msgspec

from sglang_contracts.surface import resolve
from sglang_contracts.surface.changes import FLAGS, by_name
from sglang_contracts.surface.frames import (
    CALLS,
    MODULES,
    PLACES,
    REGISTRATIONS,
    SHARD,
    SHARDS,
    VARIABLES,
    Decoder,
    Frames,
    shard,
)
from sglang_contracts.surface.kept import RecordId
from sglang_contracts.surface.meaning import classes_meant, strings_meant
from sglang_contracts.surface.model import (
    Attribute,
    Call,
    Class,
    Condition,
    Flag,
    Function,
    Import,
    Kind,
    Module,
    Role,
    Value,
)
from sglang_contracts.surface.parsers import flags_of
from sglang_contracts.surface.symbol import CLOSED_BASES, Symbol, SymbolKind
from sglang_contracts.surface.wheel import covered

_DOTTED = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")


class Surface:
    """The API of one release, read on demand.

    Args:
        catalog: Where its frames are found.
        release: Its number.
    """

    def __init__(self, catalog: Frames, release: str) -> None:
        self.catalog = catalog
        self.release = release
        self._tops: dict[tuple[str, str], Symbol | None] = {}
        self._mros: dict[tuple[str, str], tuple[Symbol, ...]] = {}
        self._externals: dict[tuple[str, str], tuple[str, ...]] = {}
        self._types: dict[tuple[str, str], tuple[Symbol, ...]] = {}
        self._ordered: list[str] | None = None
        self._by_receiver: dict[str, dict[str, list[tuple[str, Call]]]] | None = None

    def __repr__(self) -> str:
        return f"Surface({self.release!r})"

    @cached_property
    def _names(self) -> frozenset[str]:
        frames = self.catalog.frame_names(self.release)
        return frozenset(name[2:] for name in frames if name.startswith("m:"))

    def module_names(self) -> frozenset[str]:
        """Names of all recorded modules of this release."""
        return self._names

    def module(self, name: str) -> Module | None:
        """One module's record; None where the release has none (or only a folder of that name)."""
        record = self.catalog.locate(self.release, f"m:{name}")
        return None if record is None else self.catalog.module(record)

    def record_id(self, name: str) -> RecordId | None:
        """Equal in two releases exactly where the module's record is the same (None: not there)."""
        return self.catalog.locate(self.release, f"m:{name}")

    @staticmethod
    def covers(name: str) -> bool:
        """Whether a package is recorded at all; of others nothing can be said."""
        return covered(name)

    @property
    def digest(self) -> str:
        """Digest over all that is recorded of this release."""
        return self.catalog.pack(self.release).header.digest

    # -- names -------------------------------------------------------------------------------------

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
            return Symbol(module, name, "class", resolve.assembled(self, module, name, record))
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
            here = own if own == owner and own.node is not None else owner
            known, self._externals[key] = resolve.linearised(self, here)
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
        return resolve.constructor(self, owner)

    def fields(self, owner: Symbol) -> dict[str, Attribute]:
        """Fields of a dataclass, Struct, NamedTuple or model in constructor order."""
        return resolve.fields(self, owner)

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
            return Symbol(module, name, "class", resolve.assembled(self, module, name, record))
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

    # -- facts over the whole release --------------------------------------------------------------

    def callers(self, name: str) -> list[tuple[str, Call]]:
        """Every form in which this release calls something of that last name, with the module."""
        table: dict[str, tuple[Call, ...]] = self._entry("c", name, CALLS) or {}
        return [(module, form) for module, forms in table.items() for form in forms]

    def is_called_on(self, name: str, receivers: Iterable[str]) -> bool:
        """Whether this release calls ``name`` on a receiver of one of these last names."""
        raw = self._raw("c", name, name)
        # The text is searched before anything is decoded: most names are called on others.
        if raw is None or not any(each.encode() in bytes(raw) for each in receivers):
            return False
        wanted = frozenset(receivers)
        return any(form.receiver in wanted for _, form in self.callers(name))

    def readers(self, receiver: str) -> dict[str, tuple[str, ...]]:
        """Attributes this release reads off receivers of that last name → modules that do.

        ``current_platform``, ``get_attn_backend()``; with ``?`` at its end the reads that provide
        for absence (``hasattr``, ``getattr`` with a default). Calls are not reads: see
        :meth:`calls_on`.
        """
        return dict(self._entry("r", receiver.rstrip("?"), MODULES, receiver) or {})

    def writers(self, receiver: str) -> dict[str, tuple[str, ...]]:
        """Attributes this release assigns on receivers of that last name → modules that do."""
        return dict(self._entry("r", receiver, MODULES, f"{receiver}=") or {})

    def calls_on(self, receiver: str) -> dict[str, list[tuple[str, Call]]]:
        """Methods this release calls on receivers of that last name → module and form of each.

        Only methods that some class of the release defines (what none defines is not recorded).
        """
        if self._by_receiver is None:
            self._by_receiver = {}
            for index in range(SHARDS):
                for name in self._frame(f"c:{index}", SHARD):
                    for module, form in self.callers(name):
                        per_receiver = self._by_receiver.setdefault(form.receiver, {})
                        per_receiver.setdefault(name, []).append((module, form))
        return self._by_receiver.get(receiver, {})

    def places(self, name: str) -> tuple[str, ...]:
        """Where a name is defined: ``module`` at top level, ``module:Class`` as a member."""
        return self._entry("n", name, PLACES) or ()

    def names(self) -> Iterator[str]:
        """Every name that is defined anywhere in this release."""
        for index in range(SHARDS):
            yield from self._frame(f"n:{index}", SHARD)

    @cached_property
    def _flags(self) -> dict[str, tuple[str, Flag]]:
        return by_name(self._frame("flags", FLAGS))

    def flag(self, name: str) -> Flag | None:
        """The command-line flag of that spelling (``--tp-size``)."""
        found = self._flag(name)
        return found[1] if found is not None else None

    def _flag(self, name: str) -> tuple[str, Flag] | None:
        """The module that registers a flag, and the flag."""
        return self._flags.get(name)

    def flags(self) -> dict[str, Flag]:
        """Every command-line flag of the release, by each of its spellings."""
        return {name: flag for name, (_, flag) in self._flags.items()}

    def flags_of(self, program: str) -> dict[str, tuple[str, Flag]]:
        """The flags that a program's own parser takes, each with the module that registers it."""
        return flags_of(program, self._frame("flags", FLAGS))

    def flag_choices(self, name: str) -> tuple[str, ...] | None:
        """Values a flag accepts; None where any is accepted or they are not known from the text."""
        found = self._flag(name)
        if found is None or not found[1].choices:
            return None
        return self.strings(found[0], found[1].choices)

    def environment(self) -> dict[str, str]:
        """Environment variables the release reads → what stands in for a deprecated one."""
        variables: dict[str, str] = self._frame("environment", VARIABLES)
        return variables

    def variable(self, name: str) -> str | None:
        """What stands in for an environment variable if it is deprecated, else ""; None: unread."""
        return self.environment().get(name)

    def registrations(self, function: str) -> dict[str, tuple[str, ...]]:
        """Keys given to a registering function (or table) → modules that do."""
        table: dict[str, tuple[str, ...]] = self._frame("registrations", REGISTRATIONS).get(
            function, {}
        )
        return table

    def _frame(self, name: str, decoder: Decoder) -> Any:
        record = self.catalog.locate(self.release, name)
        if record is None:
            raise self.catalog.pack(self.release).corrupt(f"it has no {name}")
        return self.catalog.decoded(record, decoder)

    def _entry(self, kind: str, name: str, decoder: Decoder, key: str = "") -> Any:
        raw = self._raw(kind, name, key or name)
        return None if raw is None else decoder.decode(raw)

    def _raw(self, kind: str, name: str, key: str) -> msgspec.Raw | None:
        """The undecoded entry ``key`` of the shard of ``name``."""
        return self.catalog.fact(self.release, f"{kind}:{shard(name)}", key)
