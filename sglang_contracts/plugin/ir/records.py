"""What one file of a plugin relies on, as plain values that no release has touched yet.

What an expression is stands in the file's node table (:mod:`sglang_contracts.plugin.ir.nodes`); the
records name nodes by their index in it.
"""

from __future__ import annotations

import enum

import msgspec

from sglang_contracts.plugin.ir.nodes import UNKNOWN, Node, Unknown


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
    decorators: list[int] = []
    """Nodes of the decorators that may change its signature, the outermost first."""
    keys: list[list[str]] = []
    """Keys of the dict that each of its ``return`` statements returns; none where it returns none.
    """
    hands_on: bool = False
    """With what ``*args`` and ``**kwargs`` take it does nothing but hand it on."""


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
    refuses: bool = False
    """Whether the other branch only raises: no way out, but not silent."""


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
    whose elements look something up in ``value`` (``hashed``); what a ``with`` statement enters
    (``entered``, ``entered-async``)."""


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
    -1 where it is used as it is; REGISTER: 1 where the code insists that the key is free;
    HOOK: 1 where it only sets the name in its module, as ``mock.patch`` does."""
    text: str = ""
    """FLAG: its value."""
    function: int = -1
    """The function it stands in."""
    group: int = 0
    """Alternatives of one list of which one is enough."""
    program: str = ""
    """FLAG: the program of SGLang's that it is given to."""


class Form(msgspec.Struct, array_like=True):
    """The form of a call."""

    positional: list[int] = []
    """Nodes of the positional arguments before any ``*args``."""
    names: list[str] = []
    """The last name of each positional argument: ``mask`` of ``self.mask``; empty: it has none."""
    keywords: dict[str, int] = {}
    star: bool = False
    double_star: bool = False
    spread: list[int] = []
    """Nodes of what ``**`` is given whose keys stand elsewhere: in a function that makes it."""


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


class Put(msgspec.Struct, array_like=True):
    """An element that is put into a container."""

    container: int
    """A node that is, or leads to, a :class:`~sglang_contracts.plugin.ir.nodes.Filled`."""
    value: int


class File(msgspec.Struct, array_like=True):
    """One file of a plugin."""

    path: str
    """Relative to the root, forward slashes."""
    module: str
    """Dotted name relative to the root; empty for what is no Python module."""
    nodes: list[Node] = msgspec.field(default_factory=lambda: [Unknown()])
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
    """Imports another serving framework, or lies in its folder, and takes nothing of SGLang's."""
    computed: list[tuple[int, int]] = []
    """(node, line) of what attributes are assigned to under names that are computed."""
    foreign_stars: list[tuple[str, int, int]] = []
    """(module, line, guard) of star imports from modules of other distributions."""
    searches: bool = False
    """Looks modules of SGLang's up by names that are computed."""
    problem: str = ""
    """Why it was skipped, or read only in part."""
    problem_line: int = 0
    tested: list[int] = []
    """Nodes whose truth is asked somewhere, or whether they are ``None``."""
    unread: bool = False
    """It has a problem, and names SGLang or may: what it uses is not known."""
    transient: bool = False
    """Its problem is want of memory or stack: the same file may be read another time."""
    puts: list[Put] = []
    kept: dict[str, list[int]] = {}
    """Name that functions bind with ``global`` → nodes of what it is bound to, anywhere."""
