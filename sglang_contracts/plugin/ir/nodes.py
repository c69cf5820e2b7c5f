"""Symbolic values of a plugin's expressions, one struct for each operation that makes one.

A *node* says what an expression is, without any release: ``Import("sglang.srt.x", "Y")``,
``Attr(7, "z")``. Nodes are kept in one table a file (:mod:`sglang_contracts.plugin.ir.node_table`)
and name each other by their index in it, so that equal expressions are one node and
:mod:`sglang_contracts.verify.values.evaluator` works each out once a release. Index 0 is
:class:`Unknown`. A field of the type ``int`` that is called after what it refers to (``base``,
``value``, ``callee``, …) is such an index.

A condition is a node as well: whether it holds is what it stands for.
"""

from __future__ import annotations

import msgspec

UNKNOWN = 0
"""The index of the value that nothing is known of."""


class Operation(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What all nodes have in common: they are compared by what they hold, and never change."""


# -- names -----------------------------------------------------------------------------------------


class Unknown(Operation, frozen=True, tag="unknown"):
    """A value that nothing is known of."""


class Import(Operation, frozen=True, tag="import"):
    """What ``from module import name`` binds, of SGLang's; without a name: the module."""

    module: str
    name: str


class Foreign(Operation, frozen=True, tag="foreign"):
    """What is imported of neither SGLang's nor the plugin's; without a name: the module."""

    module: str
    name: str


class PluginName(Operation, frozen=True, tag="own"):
    """A name of another module of the plugin; without a name: the module."""

    module: str
    name: str


class Dotted(Operation, frozen=True, tag="dotted"):
    """What a dotted string names."""

    text: str


class Known(Operation, frozen=True, tag="known"):
    """An object by the conventional name it goes by, such as ``forward_batch``."""

    name: str


# -- the plugin's own functions and classes --------------------------------------------------------


class Param(Operation, frozen=True, tag="param"):
    """A parameter of a function of this file."""

    function: int
    """Index into :attr:`~sglang_contracts.plugin.ir.records.File.functions`."""
    position: int


class Self(Operation, frozen=True, tag="self"):
    """An instance of a class of this file, as its methods see it."""

    qual: str


class Super(Operation, frozen=True, tag="super"):
    """``super()`` inside a class of this file."""

    qual: str


class LocalClass(Operation, frozen=True, tag="ownclass"):
    """A class of this file."""

    qual: str


class LocalFunction(Operation, frozen=True, tag="ownfunc"):
    """A function of this file."""

    function: int
    """Index into :attr:`~sglang_contracts.plugin.ir.records.File.functions`."""


class Wrapped(Operation, frozen=True, tag="wrapped"):
    """A function made a ``property``, a ``static`` or a ``class`` method by a call.

    A ``method``: one that is bound to an object.
    """

    kind: str
    value: int


# -- what is made of a value -----------------------------------------------------------------------


class Attr(Operation, frozen=True, tag="attr"):
    """An attribute."""

    base: int
    name: str


class Call(Operation, frozen=True, tag="call"):
    """The result of a call."""

    callee: int
    form: int
    """Index into :attr:`~sglang_contracts.plugin.ir.records.File.forms`."""


class Partial(Operation, frozen=True, tag="partial"):
    """``functools.partial`` of a callable."""

    callee: int
    form: int
    """Index into :attr:`~sglang_contracts.plugin.ir.records.File.forms`."""


class Item(Operation, frozen=True, tag="item"):
    """An element by its key; None where the key is no constant string."""

    base: int
    key: str | None


class Iter(Operation, frozen=True, tag="iter"):
    """An element of an iteration."""

    base: int


class Unpack(Operation, frozen=True, tag="unpack"):
    """One of several targets that a value is unpacked into; of no known number: an index."""

    base: int
    position: int
    count: int
    """How many targets there are; -1: none, it is ``base[position]``."""


class Slice(Operation, frozen=True, tag="slice"):
    """A part of a sequence, by constant bounds."""

    base: int
    lower: int | None
    upper: int | None


class Enter(Operation, frozen=True, tag="enter"):
    """What ``with base as x`` binds."""

    base: int


class TypeOf(Operation, frozen=True, tag="typeof"):
    """``type(base)``."""

    base: int


class Instance(Operation, frozen=True, tag="instance"):
    """An object of a class, as an annotation or an ``isinstance`` says."""

    cls: int


class Without(Operation, frozen=True, tag="without"):
    """What an ``isinstance`` that did not hold leaves of a value."""

    base: int
    taken: int
    """An :class:`Instance` of what it was asked for."""


class Probe(Operation, frozen=True, tag="probe"):
    """``getattr(x, name, default)``."""

    value: int
    """The :class:`Attr`."""
    default: int


# -- containers and constants ----------------------------------------------------------------------


class ListOf(Operation, frozen=True, tag="list"):
    """A container of such elements."""

    element: int


class DictOf(Operation, frozen=True, tag="dict"):
    """A mapping to such values."""

    value: int


class TupleOf(Operation, frozen=True, tag="tuple"):
    """A tuple of just these elements."""

    elements: tuple[int, ...]


class Filled(Operation, frozen=True, tag="filled"):
    """A container that elements are put into after it was made."""

    site: int
    """Which of the file's containers it is."""
    mapping: bool
    start: int
    """Element that it was made with; :data:`UNKNOWN`: it was made empty."""


class Kept(Operation, frozen=True, tag="kept"):
    """A name of this module that functions bind with ``global``."""

    name: str
    """Key of :attr:`~sglang_contracts.plugin.ir.records.File.kept`."""


class Literal(Operation, frozen=True, tag="literal"):
    """A value of a builtin type, or ``None``, ``true``, ``false``."""

    kind: str
    """``str int float bool None true false list dict tuple number function …``."""


class Text(Operation, frozen=True, tag="text"):
    """A constant string that is compared or passed on."""

    text: str


class Number(Operation, frozen=True, tag="number"):
    """A constant integer that is compared or passed on."""

    number: int


# -- SGLang's version ------------------------------------------------------------------------------


class SglangVersion(Operation, frozen=True, tag="version"):
    """SGLang's own version, as text."""


class ParsedVersion(Operation, frozen=True, tag="parse"):
    """``Version(text)``."""

    text: int


class ParsedSpecifier(Operation, frozen=True, tag="specifier"):
    """``SpecifierSet(text)``."""

    text: int


class VersionNumbers(Operation, frozen=True, tag="ints"):
    """The numbers in a version's text, as a tuple."""

    text: int
    count: int
    """At most so many; 0: all."""


class ParsedInt(Operation, frozen=True, tag="int"):
    """``int(text)``."""

    text: int


# -- one of several values -------------------------------------------------------------------------


class OneOf(Operation, frozen=True, tag="union"):
    """One of these values."""

    values: tuple[int, ...]


class Select(Operation, frozen=True, tag="select"):
    """One of two values, by a condition."""

    condition: int
    then: int
    otherwise: int


class Tried(Operation, frozen=True, tag="tried"):
    """One of two values, by whether a ``try`` goes through."""

    attempt: int
    """Index into :attr:`~sglang_contracts.plugin.ir.records.File.attempts`."""
    body: int
    handler: int


# -- lists of names that a question is put to ------------------------------------------------------


class NamesOf(Operation, frozen=True, tag="names-of"):
    """The names of a value's attributes: ``dir(base)`` and its kin."""

    base: int


class ParametersOf(Operation, frozen=True, tag="parameters-of"):
    """The names of a function's parameters: ``signature(function).parameters`` and its kin."""

    function: int


# -- conditions ------------------------------------------------------------------------------------


class Always(Operation, frozen=True, tag="always"):
    """True."""


class Never(Operation, frozen=True, tag="never"):
    """False."""


class Compare(Operation, frozen=True, tag="compare"):
    """A comparison of two values, one of which may be SGLang's version."""

    sign: str
    left: int
    right: int


class Has(Operation, frozen=True, tag="has"):
    """Whether a value has an attribute."""

    base: int
    name: str


class HasNamed(Operation, frozen=True, tag="has-named"):
    """Whether a value has the attribute that a parameter names."""

    base: int
    name: int
    """A :class:`Param`."""


class Takes(Operation, frozen=True, tag="takes"):
    """Whether a function takes a parameter of a name."""

    function: int
    name: str


class Found(Operation, frozen=True, tag="found"):
    """Whether there is a module of that name."""

    dotted: int


class Registered(Operation, frozen=True, tag="registered"):
    """Whether a table has a key."""

    table: int
    key: str


class Not(Operation, frozen=True, tag="not"):
    """Whether a condition does not hold."""

    condition: int


class And(Operation, frozen=True, tag="and"):
    """Whether all of several conditions hold."""

    conditions: tuple[int, ...]


class Or(Operation, frozen=True, tag="or"):
    """Whether one of several conditions holds."""

    conditions: tuple[int, ...]


class Went(Operation, frozen=True, tag="went"):
    """Whether a ``try`` goes through."""

    attempt: int
    """Index into :attr:`~sglang_contracts.plugin.ir.records.File.attempts`."""


class Truth(Operation, frozen=True, tag="truth"):
    """Whether a value is true."""

    value: int


# -- what stands in launch commands ----------------------------------------------------------------


class Flag(Operation, frozen=True, tag="flag"):
    """A flag of SGLang's command line."""

    name: str


class Environment(Operation, frozen=True, tag="environment"):
    """An environment variable."""

    name: str


Node = (
    Unknown
    | Import
    | Foreign
    | PluginName
    | Dotted
    | Known
    | Param
    | Self
    | Super
    | LocalClass
    | LocalFunction
    | Wrapped
    | Attr
    | Call
    | Partial
    | Item
    | Iter
    | Unpack
    | Slice
    | Enter
    | TypeOf
    | Instance
    | Without
    | Probe
    | ListOf
    | DictOf
    | TupleOf
    | Filled
    | Kept
    | Literal
    | Text
    | Number
    | SglangVersion
    | ParsedVersion
    | ParsedSpecifier
    | VersionNumbers
    | ParsedInt
    | OneOf
    | Select
    | Tried
    | NamesOf
    | ParametersOf
    | Always
    | Never
    | Compare
    | Has
    | HasNamed
    | Takes
    | Found
    | Registered
    | Not
    | And
    | Or
    | Went
    | Truth
    | Flag
    | Environment
)
"""Any node; a record of a file is decoded into these."""
