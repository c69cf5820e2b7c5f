"""What one file of a plugin relies on, as plain values that no release has touched yet.

A *node* is a symbolic value: ``("import", "sglang.srt.x", "Y")``, ``("attr", 7, "z")``. Nodes are
kept in one table a file and name each other by index, so that equal expressions are one node and
:mod:`sglang_contracts.verify.values.evaluator` works each out once a release. Index 0 is the value
nothing is known of.

========== ======================== ============================================================
operation  arguments                value
========== ======================== ============================================================
import     module, name             what ``from module import name`` binds; no name: the module
attr       base, name               an attribute
call       function, form           the result of a call (an index into :attr:`File.forms`)
item       base, key                an element, by constant key (or None)
iter       base                     an element of an iteration
unpack     base, index, count       one of several targets
instance   class                    an object of that class (an annotation, an ``isinstance``)
list       element                  a container of such elements
dict       element                  a mapping to such values
tuple      *elements                a tuple display
union      *values                  one of them
param      function, index          a parameter (an index into :attr:`File.functions`)
self       class                    an instance of an own class (its qualified name)
super      class                    ``super()`` inside an own class
ownclass   class                    an own class of this file
ownfunc    function                 an own function of this file
own        module, name             something of another file of the plugin
known      name                     an object by the conventional name it goes by
literal    kind                     ``str int float bool None list dict tuple number function``
version                             SGLang's own version, as text
text       text                     a constant string that is compared or passed on
number     number                   a constant integer that is compared or passed on
parse      text                     ``Version(text)``
specifier  text                     ``SpecifierSet(text)``
ints       text, count              its numbers, at most so many (0: all)
int        text                     ``int(text)``
slice      base, from, to           a part of a sequence
dotted     text                     what a dotted string names
select     condition, then, else    by a condition
tried      attempt, body, handler   by whether a ``try`` goes through
========== ======================== ============================================================

Conditions are nodes as well: ``always``, ``never``, ``compare`` (operator, left, right),
``has`` (base, name), ``has-named`` (base, a parameter that holds the name), ``takes`` (function,
parameter), ``found`` (dotted), ``registered`` (table, key), ``not``, ``and``, ``or``, ``went``
(attempt), ``truth`` (node). ``names-of`` (base) and ``parameters-of`` (function) are lists of names
that such a question is put to.
"""

from __future__ import annotations

import enum
from typing import Any

import msgspec

UNKNOWN = 0
"""The node of a value that nothing is known of."""


class Parameter(msgspec.Struct, array_like=True):
    """A parameter of a plugin's function."""

    name: str
    kind: int
    """As :class:`sglang_contracts.surface.model.ParameterKind`."""
    has_default: bool = False
    annotation: int = UNKNOWN
    """Node of a *value* of the annotated type."""


class Function(msgspec.Struct, array_like=True):
    """A function, method or lambda of a plugin."""

    qual: str
    line: int
    parameters: list[Parameter] = []
    owner: str = ""
    """Qualified name of the own class whose method it is."""
    kind: str = ""
    """``""`` plain or instance method, ``static``, ``class``, ``property``."""
    returns: list[int] = []
    """Nodes of what its ``return`` statements return."""
    return_guards: list[int] = []
    """Indices into :attr:`File.guards`, one for each of :attr:`returns`."""
    annotation: int = UNKNOWN
    is_async: bool = False
    is_generator: bool = False
    guard: int = 0
    wrapped: bool = False
    """Has a decorator that may change its signature."""
    stub: bool = False
    """Its body only raises: it is meant to be overridden."""
    yields: list[int] = []
    """Nodes of what a generator gives, one by one."""


class OwnClass(msgspec.Struct, array_like=True):
    """A class of a plugin."""

    qual: str
    line: int
    bases: list[int] = []
    methods: dict[str, int] = {}
    """Name → index into :attr:`File.functions`."""
    attributes: dict[str, list[int]] = {}
    """Name → nodes of what is assigned to it in the class body or on ``self``."""
    lines: dict[str, int] = {}
    """Name of a method or attribute → line."""
    open: bool = False
    """Has ``__getattr__`` or is decorated or built in a way that hides members."""
    abstract: bool = False
    """Declares abstract methods itself: it is not meant to be made."""
    guard: int = 0
    decorated: bool = False
    declared: dict[str, int] = {}
    """Name → node of a value of the type that it is annotated with."""
    selves: list[int] = []
    """Nodes of what its methods annotate ``self`` with: a mixin says whom it is mixed into."""


class Guard(msgspec.Struct, array_like=True):
    """A condition under which code runs; a chain by :attr:`parent`."""

    parent: int
    kind: str
    """``if`` (condition, positive), ``try`` (attempt), ``handler`` (attempt), ``typing``."""
    condition: int = UNKNOWN
    positive: bool = True
    way_out: bool = True
    """Whether the other branch takes an equivalent path."""
    line: int = 0


class Attempt(msgspec.Struct, array_like=True):
    """A ``try`` statement (or ``contextlib.suppress``)."""

    line: int
    catches: list[str] = []
    """Names of the exceptions it catches; ``*``: all."""
    way_out: bool = False
    raises: bool = False
    """The handler only raises: nothing is caught, in effect."""


class UseKind(enum.IntEnum):
    """How a place relies on something."""

    IMPORT = 0
    READ = 1
    WRITE = 2
    CALL = 3
    UNPACK = 4
    HOOK = 5
    DOTTED = 6
    REGISTER = 7
    """A registry is written: ``REGISTRY["key"] = value``, ``@register("key")``."""
    ITEM = 8
    """A registry is read by a constant key."""
    PROBE = 9
    """``hasattr``, ``getattr`` with a default: asks, never fails."""
    FLAG = 10
    ENVIRONMENT = 11
    MEMBER = 12
    """A string that names a member: ``getattr(x, "name")``."""
    NEED = 13
    """Something is done with a value that not every kind takes: ``x[0]``, ``x * 2``; a call whose
    positional arguments are named (``places``); a value whose text is taken (``text``,
    ``format``); a series
    whose elements look something up in ``value`` (``hashed``)."""


class Use(msgspec.Struct, array_like=True):
    """One place that relies on something."""

    kind: UseKind
    node: int
    line: int
    column: int
    guard: int = 0
    name: str = ""
    """A key, a flag, a variable, a kind of hook."""
    value: int = UNKNOWN
    """A second node: what is written, the replacement."""
    count: int = 0
    """UNPACK: number of targets; FLAG: whether it has a value; CALL: 1 where the result is awaited,
    -1 where it is used as it is; REGISTER: 1 where the code insists that the key is free."""
    text: str = ""
    """FLAG: its value."""
    function: int = -1
    """The function it stands in."""
    group: int = 0
    """Alternatives of one list of which one is enough."""


class Form(msgspec.Struct, array_like=True):
    """The form of a call."""

    positional: list[int] = []
    """Nodes of the positional arguments before any ``*args``."""
    names: list[str] = []
    """The last name of each positional argument: ``mask`` of ``self.mask``; empty: it has none."""
    keywords: dict[str, int] = {}
    star: bool = False
    double_star: bool = False


class Chain(msgspec.Struct, array_like=True):
    """Branches of which at most one runs: ``if … elif …``, or ``if``s that bind the same names."""

    line: int
    column: int
    guard: int
    conditions: list[int] = []
    lines: list[int] = []
    """Where each branch begins."""
    closed: bool = False
    """Has an ``else``: one of them always runs."""
    binds: list[str] = []
    """Names that every branch binds."""
    bound: bool = False
    """Whether they were all bound before."""


class File(msgspec.Struct, array_like=True):
    """One file of a plugin."""

    path: str
    """Relative to the root, forward slashes."""
    module: str
    """Dotted name relative to the root; empty for what is no Python module."""
    nodes: list[Any] = msgspec.field(default_factory=lambda: [("unknown",)])
    uses: list[Use] = []
    functions: list[Function] = []
    classes: dict[str, OwnClass] = {}
    forms: list[Form] = []
    guards: list[Guard] = []
    """Index 0 is the empty chain."""
    attempts: list[Attempt] = []
    names: dict[str, int] = {}
    """What the module binds at its end: name → node."""
    stars: list[str] = []
    """Own modules imported with ``*``."""
    bindings: list[tuple[int, int, str]] = []
    """(own function node, target node, kind of hook): what a function is put in place of."""
    groups: list[int] = []
    """Groups of which one alternative is enough."""
    defines: list[str] = []
    """Attribute names that this file defines itself, anywhere."""
    mentions: dict[int, list[str]] = {}
    """Function index (-1: the whole file) → names, attributes and keywords that stand in it."""
    strings: list[str] = []
    """Short string constants."""
    chains: list[Chain] = []
    foreign: bool = False
    """Imports another serving framework and nothing of SGLang's."""
    problem: str = ""
    """Why it was skipped, or read only in part."""
    problem_line: int = 0
    tested: list[int] = []
    """Nodes whose truth is asked somewhere, or whether they are ``None``."""
    unread: bool = False
    """It has a problem, and names SGLang or may: what it uses is not known."""
