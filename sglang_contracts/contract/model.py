"""What a contract says, as plain frozen values.

A :class:`Contract` is one interface; a :class:`Clause` is one checkable statement in it. All that
could be worked out while loading is worked out here (spellings of symbols, owners), so that who
checks clauses never looks at TOML. ``docs/contract-language.md`` is the reference for authors.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import Generic, TypeVar

import msgspec

from sglang_contracts.contract.ranges import Range

T = TypeVar("T")


class Kind(enum.Enum):
    """What a clause speaks of."""

    FIELD = "field"
    """A data attribute of the target, made by the provider, read (or written) by the consumer."""
    ATTRIBUTE = "attribute"
    """A class-level flag, property or attribute assigned on ``self``."""
    METHOD = "method"
    FUNCTION = "function"
    """A function or a module-level value, anywhere: has its own ``symbol``."""
    CLASS = "class"
    """A further class: has its own ``symbol``; members name it by ``Name.member``."""
    MODULE = "module"
    """A whole module at a path."""
    MEMBER = "member"
    """An enum member of the target."""
    FLAG = "flag"
    """A command-line flag, ``flag:--name``."""
    FLAG_VALUE = "flag-value"
    """A choice of a flag, ``flag:--name(value)``."""
    ENVIRONMENT = "environment"
    """An environment variable that the release reads, ``env:NAME``."""
    REGISTRY = "registry"
    """A key of a registry, ``module:REGISTRY["key"]``."""
    INVARIANT = "invariant"
    """A statement over fields in the invariant language."""
    BEHAVIOUR = "behaviour"
    """A change of meaning: the names are as they were, what they do is not."""
    OBLIGATION = "obligation"
    """What SGLang reads or calls off the plugin's object though no base class declares it."""


SURFACE_KINDS = frozenset(
    {
        Kind.FIELD,
        Kind.ATTRIBUTE,
        Kind.METHOD,
        Kind.FUNCTION,
        Kind.CLASS,
        Kind.MODULE,
        Kind.MEMBER,
        Kind.FLAG,
        Kind.FLAG_VALUE,
        Kind.ENVIRONMENT,
        Kind.REGISTRY,
    }
)
"""Kinds whose range must be sharp: present in a surface exactly where the range says so."""


class Role(enum.Enum):
    """Which side of a behaviour a plugin is on: only that side is hit."""

    CALLER = "caller"
    """Calls (or constructs) the symbol."""
    OVERRIDER = "overrider"
    """Defines the method in a subclass, or replaces it by a hook or a patch."""
    READER = "reader"
    """Reads the attribute, or attributes off the symbol."""
    WRITER = "writer"
    """Assigns the attribute, or attributes on the symbol; sets the environment variable."""
    SUBCLASSER = "subclasser"
    """Has a class derived from the symbol."""
    REGISTRAR = "registrar"
    """Registers something under a key in the registry."""
    LAUNCHER = "launcher"
    """Gives the flag or the environment variable in a launch command."""
    INSPECTOR = "inspector"
    """Looks through the symbol's members or source (``inspect``, ``dir``, ``vars``)."""
    IMPORTER = "importer"
    """Imports or names it at all."""


class Variant(msgspec.Struct, Generic[T], frozen=True):
    """A value that holds in some releases only."""

    sglang: tuple[str, ...]
    value: T


class Replacement(msgspec.Struct, frozen=True, omit_defaults=True):
    """What to use instead, in the releases of :attr:`sglang`."""

    use: str
    """A symbol, or the new spelling."""
    sglang: tuple[str, ...] = ()
    note: str = ""

    def applies(self, release: str) -> bool:
        """Whether it is right in that release (no range: wherever the clause's is over)."""
        return not self.sglang or Range.of(self.sglang).contains(release)


class Returns(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a call gives back."""

    dtype: tuple[str, ...] = ()
    """One of these, or an expression over arguments such as ``q.dtype``."""
    shape: tuple[str, ...] | None = None
    device: str = ""
    type: str = ""
    """For what is no tensor: the type in words or as a symbol."""
    arity: int = 0
    """Length of the tuple; 0: no tuple."""


class KvWrites(msgspec.Struct, frozen=True, omit_defaults=True):
    """Which pool call the method must make, and how often."""

    method: str
    times: int = 1
    when: str = ""
    """Name of the argument that switches it; empty: always."""
    loc: str = ""
    """Where to: a dotted path from the arguments."""


class On(msgspec.Struct, frozen=True, omit_defaults=True):
    """Whom a behaviour hits: every given condition must hold."""

    symbol: str
    """Upstream symbol the plugin touches (``module:Qual``, ``flag:``, ``env:``, registry)."""
    role: Role
    argument: str = ""
    """Caller: this argument is given (by keyword, or by position at :attr:`position`).
    Overrider: its parameter at that place is the one whose value changed its type."""
    position: int = -1
    """Position of :attr:`argument`, from 0, ``self`` not counted; -1: by keyword only. Caller,
    without a name: given by position, whatever it is called."""
    unless_type: tuple[str, ...] = ()
    """Caller: not hit where the argument is made by, or annotated as, one of these."""
    with_arguments: tuple[str, ...] = ()
    """Caller: the call gives all of these keywords."""
    without_arguments: tuple[str, ...] = ()
    """Caller: the call gives none of these (neither by keyword nor by ``**``)."""
    reads: tuple[str, ...] = ()
    """Reader: attributes read. Caller: attributes read off :attr:`off` after the call."""
    writes: tuple[str, ...] = ()
    """Writer: attributes assigned (``*``: any)."""
    off: str = ""
    """Caller: what the reads are off: ``receiver`` (default), ``result``, ``argument``."""
    unpacks: int = 0
    """Caller: the result is unpacked to exactly so many targets."""
    defines: tuple[str, ...] = ()
    """Subclasser: the class defines at least one of these itself."""
    lacks: tuple[str, ...] = ()
    """Subclasser: the class (with its bases in the plugin) defines none of these."""
    requires_parameters: tuple[str, ...] = ()
    """Overrider, subclasser (of ``__init__``): has one of these as a parameter without default."""
    lacks_parameters: tuple[str, ...] = ()
    """Overrider, subclasser (of ``__init__``): takes none of these, nor ``**kwargs``."""
    key: str = ""
    """Registrar: the key registered. Launcher: the value given."""
    without_key: str = ""
    """Registrar: this key is not registered by the plugin anywhere."""
    mentions: tuple[str, ...] = ()
    """Only hit where the same function (subclasser: class or its decorators; else module) mentions
    one of these names."""
    unless_mentions: tuple[str, ...] = ()
    """Not hit where the same function (subclasser: class; else module) mentions one of these
    names: it has been adapted already."""
    unless_in: tuple[str, ...] = ()
    """Writer: not hit on what SGLang hands to the plugin's override of one of these methods:
    it may be written to there."""
    unless_made_by: tuple[str, ...] = ()
    """Writer: not hit where the plugin has the object from one of these: nobody else has it yet."""
    until: tuple[str, ...] = ()
    """Writer: methods that end what :attr:`unless_made_by` allows, once one is called on it."""
    text: tuple[str, ...] = ()
    """Inspector: one of these strings stands in the same module of the plugin."""


class Shown(msgspec.Struct, frozen=True, omit_defaults=True):
    """By what a running engine shows a behaviour: a call that SGLang makes, or its batches."""

    call: str = ""
    """Method of the class of :attr:`On.symbol`; ``Class.__init__`` for a constructor."""
    argument: str = ""
    """The argument whose type changed."""
    position: int = -1
    """Position of :attr:`argument`, from 0, ``self`` not counted; -1: by keyword only."""
    type: str = ""
    """Its type with the new meaning: a builtin, ``tensor``, or the name of a class."""
    keywords: tuple[str, ...] = ()
    """The call gives all of these keywords."""
    holds: str = ""
    """Instead of a call: an expression that holds of every batch."""


class Clause(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """One checkable statement."""

    id: str
    """``contract-id/clause-id``: stable, never reused."""
    kind: Kind
    name: str
    """Last name: the field, method, key, flag …"""
    symbols: tuple[str, ...] = ()
    """Spellings under which a release may have it, in order of preference: it is present where
    any of them resolves. Empty for invariants."""
    owner: tuple[str, ...] = ()
    """For members: spellings of the class they belong to."""
    sglang: tuple[str, ...] = ()
    """Releases in which it holds: a union of specifier sets; empty: all."""
    optional: bool = False
    """The provider may leave it out (None, or not defined): absence is no failure."""
    modes: tuple[str, ...] = ()
    """Forward modes in which it holds; empty: all."""
    dtype: tuple[Variant[tuple[str, ...]], ...] = ()
    shape: tuple[Variant[tuple[str, ...]], ...] = ()
    type: tuple[Variant[str], ...] = ()
    """What is no tensor: its Python type in words."""
    device: str = ""
    """``compute`` or ``host``."""
    parameters: tuple[Variant[tuple[str, ...]], ...] = ()
    """Canonical parameter lists (:mod:`sglang_contracts.contract.signature`), ``self`` left out."""
    returns: tuple[Variant[Returns], ...] = ()
    kv_writes: KvWrites | None = None
    host_transfers: int | None = None
    replaced_by: tuple[Replacement, ...] = ()
    known_as: tuple[str, ...] = ()
    """Class: names by which the field calls such an object."""
    distinctive: bool = False
    """Field: the name alone tells what is meant, whatever it is read off."""
    holds: str = ""
    """Invariant: the expression."""
    on: On | None = None
    was: str = ""
    now: str = ""
    use: str = ""
    severity: str = ""
    """Behaviour: ``error``, ``warning`` or ``note``."""
    rule: str = ""
    """Behaviour: the rule it is reported under; empty: ``behaviour-changed``."""
    shown: Shown | None = None
    """Behaviour: by what an engine run shows it; None: no run can."""
    receivers: tuple[str, ...] = ()
    """Obligation: last names of the receivers it is read off (:class:`surface.model.Call`)."""
    called: bool = False
    """Obligation: it is called, not merely read."""
    note: str = ""
    source: str = ""
    line: int = 0
    """Line of its table in :meth:`Contract.file_of`."""
    inventory: bool = False
    """It stands in the contract's inventory: of its name only the bounds are known."""

    @property
    def range(self) -> Range:
        """The releases in which it holds."""
        return Range.of(self.sglang)

    def holds_in(self, release: str) -> bool:
        """Whether the range contains the release."""
        return Range.of(self.sglang).contains(release)

    def replacement(self, release: str) -> Replacement | None:
        """The first replacement that is right in that release."""
        return next((each for each in self.replaced_by if each.applies(release)), None)


def variant(variants: tuple[Variant[T], ...], release: str) -> T | None:
    """The value that holds in a release; None where the contract says nothing on it."""
    for each in variants:
        if not each.sglang or Range.of(each.sglang).contains(release):
            return each.value
    return None


class Contract(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """One interface: a TOML file, and another with the names that only have bounds."""

    id: str
    title: str
    provider: str
    consumer: str
    targets: tuple[str, ...] = ()
    """Spellings of the class (or module) it is on; the first that a release has is meant."""
    sglang: tuple[str, ...] = ()
    known_as: tuple[str, ...] = ()
    """Names by which the field calls an object of the target's class."""
    dims: Mapping[str, str] = {}
    """Symbolic dimension → what it counts."""
    layouts: Mapping[str, tuple[str, ...]] = {}
    """Layout name → axes, outermost first."""
    note: str = ""
    purpose: str = ""
    """What the interface is for, and what goes wrong where it is broken."""
    last_change: str = ""
    """What changed last, the release first."""
    clauses: tuple[Clause, ...] = ()
    file: str = ""
    """File name, for messages."""

    def file_of(self, clause: Clause | None = None) -> str:
        """Where a clause stands, or the contract itself: a path in the folder of contracts."""
        name = self.file or f"{self.id}.toml"
        return f"inventory/{name}" if clause is not None and clause.inventory else name

    def clause(self, name: str) -> Clause | None:
        """The clause with that id (with or without the contract's own part)."""
        wanted = name if name.startswith(f"{self.id}/") else f"{self.id}/{name}"
        return next((each for each in self.clauses if each.id == wanted), None)


def known_names(contracts: tuple[Contract, ...]) -> dict[str, tuple[str, ...]]:
    """Conventional name → spellings of the classes such an object may have."""
    names: dict[str, list[str]] = {}
    for contract in contracts:
        for name in contract.known_as:
            names.setdefault(name, []).extend(contract.targets)
        for clause in contract.clauses:
            for name in clause.known_as:
                names.setdefault(name, []).extend(clause.symbols)
    return {name: tuple(dict.fromkeys(found)) for name, found in names.items()}
