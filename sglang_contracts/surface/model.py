"""What a surface holds: the recorded API of one release, as plain values.

Everything here is data. A :class:`Module` is what was read out of one ``.py`` file inside a wheel,
by ``ast`` alone; it is stored as one msgpack record and can be read without the rest. Names are
resolved over modules in :mod:`sglang_contracts.surface.resolve`, never here.

Expressions (annotations, defaults, bases, values) are text in a canonical form that does not
depend on the Python that recorded them. An empty string means "none was written".
"""

from __future__ import annotations

import enum
from collections.abc import Mapping

import msgspec

# ``gc=False`` throughout: records are trees, never cycles, and the collector would walk hundreds of
# thousands of them again and again.


class Condition(enum.IntFlag):
    """Under what a definition stands (0: unconditionally)."""

    IF = 1
    """In a branch of an ``if`` (not ``TYPE_CHECKING``)."""
    TRY = 2
    """In the body of a ``try``."""
    FALLBACK = 4
    """In an ``except`` or ``else`` branch: the other way out."""
    TYPE_CHECKING = 8
    """Only for a type checker: not there at run time."""
    SEVERAL = 16
    """Defined more than once in different branches: the form is that of the first."""


class Kind(enum.IntFlag):
    """What a class is, as far as its text tells."""

    DATACLASS = 1
    ENUM = 2
    STRUCT = 4
    """A ``msgspec.Struct``."""
    NAMEDTUPLE = 8
    PYDANTIC = 16
    TYPED_DICT = 32
    ABC = 64
    PROTOCOL = 128
    OPEN = 256
    """Has ``__getattr__`` or ``__getattribute__``: absence of a name proves nothing."""
    SEALED = 512
    """Has its own ``__setattr__``, or is frozen: a write may raise."""
    KW_ONLY = 1024
    """Fields are keyword-only (``kw_only=True``)."""
    DICT = 2048
    """A ``Struct`` whose objects have a ``__dict__`` all the same (``dict=True``)."""


class ParameterKind(enum.IntEnum):
    """The five kinds of :class:`inspect.Parameter`, in order."""

    POSITIONAL_ONLY = 0
    POSITIONAL = 1
    VAR_POSITIONAL = 2
    KEYWORD_ONLY = 3
    VAR_KEYWORD = 4


VARIADIC = frozenset({ParameterKind.VAR_POSITIONAL, ParameterKind.VAR_KEYWORD})
"""``*args`` and ``**kwargs``: they take what no other parameter does."""


class Parameter(msgspec.Struct, array_like=True, frozen=True, omit_defaults=True, gc=False):
    """One parameter of a function."""

    name: str
    kind: ParameterKind = ParameterKind.POSITIONAL
    annotation: str = ""
    default: str = ""
    """Text of the default; empty means *required* (an empty string literal is ``''``)."""

    @property
    def required(self) -> bool:
        """Whether a call must give it."""
        return not self.default and self.kind not in VARIADIC


class Role(enum.IntFlag):
    """What a function is, beyond a plain one."""

    STATIC = 1
    CLASS = 2
    PROPERTY = 4
    """Also ``cached_property`` and the like: read without a call."""
    SETTER = 8
    """The property has a setter."""
    ABSTRACT = 16
    UNIMPLEMENTED = 32
    """Its body only raises ``NotImplementedError``: a subclass has to provide it."""
    RETIRED = 64
    """The name is still there, a call raises: annotated ``NoReturn``, or nothing but a raise."""
    ASYNC = 128
    GENERATOR = 256
    CONTEXT_MANAGER = 512
    EMPTY = 1024
    """Its body is ``pass``, ``...`` or a docstring only."""
    PLANNED = 2048
    """Upstream's prose says ``[Planned]``: the core does not call it yet."""


class Function(msgspec.Struct, array_like=True, frozen=True, omit_defaults=True, gc=False):
    """A function or method."""

    parameters: tuple[Parameter, ...] = ()
    """All of them, ``self``/``cls`` included."""
    returns: str = ""
    role: Role = Role(0)
    condition: Condition = Condition(0)
    decorators: tuple[str, ...] = ()
    """Dotted names (and arguments) of decorators that say nothing in :class:`Role`."""
    arities: tuple[int, ...] = ()
    """Lengths of the tuples its ``return`` statements return, sorted; 0 stands for a value that is
    no tuple display, -1 for ``return None`` or falling off the end among other returns."""
    result: str = ""
    """The returned expression where there is exactly one short ``return`` (evidence for a
    property's type, a delegate, an alias)."""
    message: str = ""
    """For a retired function: what it says when it raises."""
    reads: tuple[str, ...] = ()
    """Attributes read off ``self`` in its body, sorted."""
    calls: tuple[str, ...] = ()
    """Methods called on ``self`` in its body, sorted."""
    writes: tuple[str, ...] = ()
    """Attributes assigned on ``self`` in its body, sorted."""


class Attribute(msgspec.Struct, array_like=True, frozen=True, omit_defaults=True, gc=False):
    """A field, class attribute, enum member, or attribute assigned on ``self``."""

    annotation: str = ""
    value: str = ""
    """Text of the default or assigned value, shortened; empty: none (a field without a default)."""
    on_self: bool = False
    """Assigned on ``self`` in some method, not declared in the class body."""
    condition: Condition = Condition(0)
    keys: tuple[str, ...] = ()
    """String keys of a dict display, or the strings of a list/tuple/set display: a registry."""
    keyword: bool = True
    """For a field: whether the constructor takes it (False: ``init=False`` or ``ClassVar``)."""


class Class(msgspec.Struct, array_like=True, frozen=True, omit_defaults=True, gc=False):
    """A class; members are its *own*, inherited ones are found by the resolver."""

    bases: tuple[str, ...] = ()
    kind: Kind = Kind(0)
    attributes: Mapping[str, Attribute] = {}
    """In order of definition; those assigned on ``self`` after those of the body."""
    methods: Mapping[str, Function] = {}
    classes: Mapping[str, Class] = {}
    decorators: tuple[str, ...] = ()
    condition: Condition = Condition(0)


class Value(msgspec.Struct, array_like=True, frozen=True, omit_defaults=True, gc=False):
    """A module-level name bound to something that is neither class, function nor import."""

    annotation: str = ""
    value: str = ""
    keys: tuple[str, ...] = ()
    """String keys of a dict display, or the strings of a list/tuple/set display: a registry."""
    condition: Condition = Condition(0)


class Import(msgspec.Struct, array_like=True, frozen=True, omit_defaults=True, gc=False):
    """A name that a module binds by importing it."""

    module: str
    """Absolute module name."""
    name: str = ""
    """The attribute of that module; empty: the module itself."""
    condition: Condition = Condition(0)
    local: bool = False
    """Imported inside a function: evidence only, the module does not offer it."""


class Call(msgspec.Struct, array_like=True, frozen=True, omit_defaults=True, gc=False):
    """One form in which this module calls something."""

    receiver: str = ""
    """Last name of what it is called on: ``attn_backend`` for ``self.attn_backend.f()``,
    ``get_x()`` for ``get_x().f()``, ``super()``; empty for a bare name."""
    positional: int = 0
    """Number of positional arguments before any ``*args``."""
    keywords: tuple[str, ...] = ()
    """Sorted."""
    star: bool = False
    double_star: bool = False
    unpacked: int = 0
    """Number of targets the result is unpacked to at once (0: it is not)."""


class Flag(msgspec.Struct, array_like=True, frozen=True, omit_defaults=True, gc=False):
    """A command-line flag, as ``add_argument`` registers it."""

    names: tuple[str, ...]
    """All spellings, the first as written first."""
    dest: str = ""
    choices: str = ""
    """Text of ``choices=``: a display of strings, or the name of a list."""
    action: str = ""
    type: str = ""
    nargs: str = ""
    required: bool = False
    deprecated: str = ""
    """What its help or action says to use instead, where it says that it is deprecated."""
    refused: bool = False
    """Registered only to stop the launch with a message (:attr:`deprecated`)."""


class Module(msgspec.Struct, array_like=True, frozen=True, omit_defaults=True, gc=False):
    """One module of a release."""

    package: bool = False
    """Whether it is an ``__init__.py``."""
    classes: Mapping[str, Class] = {}
    functions: Mapping[str, Function] = {}
    values: Mapping[str, Value] = {}
    imports: Mapping[str, Import] = {}
    stars: tuple[str, ...] = ()
    """Modules whose public names are imported with ``*``, in order."""
    exports: tuple[str, ...] | None = None
    """``__all__``, where it is a plain display."""
    lazy: tuple[str, ...] | None = None
    """Names that a module-level ``__getattr__`` gives; empty: it gives what cannot be told
    (the module is open); None: there is no such function."""
    problem: str = ""
    """Why it could only be read in part (a syntax error, an odd encoding); empty: read whole."""


class Usage(msgspec.Struct, frozen=True):
    """What one module *does*: the other half of each contract.

    Kept apart from :class:`Module`, so that a module whose API stays the same stays the same
    record, whatever it calls.
    """

    calls: dict[str, tuple[Call, ...]] = {}
    """Callee's last name → the different forms in which it is called here."""
    reads: dict[str, tuple[str, ...]] = {}
    """Receiver's last name (see :class:`Call`) → attributes read off it (not called), sorted. Under
    the name with ``?`` at its end: those asked for softly, with ``hasattr`` or ``getattr``."""
    writes: dict[str, tuple[str, ...]] = {}
    """The same for attributes assigned on it (``self`` excluded)."""
    flags: tuple[Flag, ...] = ()
    """Command-line flags registered here."""
    environment: dict[str, str] = {}
    """Environment variables read here → what stands in for it if deprecated (else empty)."""
    registrations: dict[str, tuple[str, ...]] = {}
    """Registering function or decorator, or table → string keys it is given here."""
