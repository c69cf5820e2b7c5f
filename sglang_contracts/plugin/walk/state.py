"""The state of a walk over one module, and its dispatch by the kind of syntax node."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import msgspec

from sglang_contracts.plugin.ir.node_table import Nodes
from sglang_contracts.plugin.ir.nodes import UNKNOWN, Attr, Call, Item, Iter, Literal, OneOf, Unpack
from sglang_contracts.plugin.ir.records import File, Guard, Use, UseKind
from sglang_contracts.plugin.walk import import_candidates
from sglang_contracts.plugin.walk.scope import Scope

_MEMBER = re.compile(r"([A-Z]\w*)\.[A-Z][A-Z0-9_]*\Z")
"""What the text of an enum's member is by default: ``Color.RED``."""

_STATED = frozenset({Attr, Call, Item, Iter, OneOf, Unpack})
"""Operations whose value upstream may say the kind of."""


_FILLING = frozenset({"append", "extend", "insert", "pop", "remove", "clear"})
"""Methods that a list changes its length by."""


class ByParameter(NamedTuple):
    """What a function names by one of its parameters: ``getattr(cls, name)``, ``TABLE[name]``."""

    function: int
    base: int
    position: int
    """Of the parameter that is the name."""
    kind: UseKind
    value: int = UNKNOWN
    """What is written there."""
    where: ast.AST | None = None
    of_name: bool = False
    """Whether it is the parameter's ``__name__``."""
    table: bool = False
    """Whether the parameter is a table of names and of what is written there."""


class WorkedOut(NamedTuple):
    """What an expression was found to be, in one state of the names around it."""

    value: int
    loud: bool
    """Whether its uses were recorded."""
    node: ast.expr
    """Kept, so that its identity stays its own."""


class OwnCall(NamedTuple):
    """A call of a function of the same file, with the constants it is given."""

    function: int
    form: int
    texts: dict[int | str, list[str]]
    """Position or keyword → the strings that the argument can be."""
    tables: dict[int | str, dict[str, int]]
    """Position or keyword → the keys of a table that is passed, with their values."""
    where: ast.AST
    guard: int
    caller: int
    outer: OwnCall | None = None
    """The call that made what is called, where that is an inner function."""


class Decorated(NamedTuple):
    """A function, and a decorator that it is given to."""

    decorator: ast.expr
    value: int
    """Node of what is called with the function."""
    function: int
    """Node of the function."""
    guard: int


class BlockPlace(NamedTuple):
    """Where a statement stands in its block."""

    body: Sequence[ast.stmt]
    position: int
    before: set[str]
    """Names that were bound when the block began."""


class Walk:
    """The state of one walk over a module: its record, scopes, guards and what it has worked out.

    Args:
        file: The record that the walk fills.
        tree: The module.
        everything: Every node of the tree.
        own_modules: Dotted names of the plugin's modules.
        expressions: Kind of expression → what gives its value, as a node's index, and records the
            uses in it.
        statements: Kind of statement → what walks it.
    """

    def __init__(
        self,
        file: File,
        tree: ast.Module,
        everything: Sequence[ast.AST],
        own_modules: frozenset[str],
        *,
        expressions: Mapping[type[ast.expr], Callable[[Walk, Any], int]],
        statements: Mapping[type[ast.stmt], Callable[[Walk, Any], None]],
    ) -> None:
        self.file = file
        self.tree = tree
        self.everything = everything
        self._expressions = expressions
        self._statements = statements
        self.place: BlockPlace | None = None
        """Where the ``if`` that is walked next stands in its block."""
        self.chained: set[int] = set()
        """Branches (by identity) that were looked at as part of a chain."""
        self.own_modules = own_modules
        self.own_classes = frozenset(
            each.name for each in tree.body if isinstance(each, ast.ClassDef)
        )
        """Names of the classes that the module itself defines, wherever in it."""
        self.nodes = Nodes()
        self.scope = Scope(None, -1, "")
        self.guard = 0
        self.future = False
        self.quiet = 0
        self.state = 0
        """What names stand for: the same number, the same names; see :meth:`moved`."""
        self._states = 0
        self.worked_out: dict[tuple[int, int, int], WorkedOut] = {}
        """Expression (by identity), state and guard → what came of it."""
        self.aliases: set[str] = set()
        """Names of types that are being looked through."""
        self.known_aliases: dict[str, int] = {}
        """What those stand for that were looked through for the annotation at hand."""
        self.loops: list[ast.stmt] = []
        self.pending: list[tuple[Scope, int, ast.AST, int]] = []
        self.forms: dict[tuple[object, ...], int] = {}
        self.lambdas: dict[int, int] = {}
        self.groups: dict[tuple[int, int], int] = {}
        self.remaining: dict[int, int] = {}
        """Comprehensions (by identity) → the condition that they have an element."""
        self.tried: dict[tuple[Scope, str], Use] = {}
        """(scope, name) → the first import in an attempt that binds it."""
        self.docs: set[int] = set()
        self.seen_uses: set[tuple[object, ...]] = set()
        self.mentioned: dict[int, set[str]] = {-1: set()}
        self.strings: set[str] = set()
        self.defined: set[str] = set()
        self.frameworks: set[str] = set()
        self.closed: dict[int, Scope] = {}
        self.awaiting: dict[int, int] = {}
        """Calls (by identity) whose result is awaited (1), or used or dropped at once (-1)."""
        self.tested: set[int] = set()
        self.by_parameter: list[ByParameter] = []
        self.own_calls: list[OwnCall] = []
        self.class_constants: dict[tuple[str, str], ast.expr] = {}
        """Class and attribute → the display or text that its body sets it to."""
        self.set_on_objects: set[tuple[str, str]] = set()
        """Those that a method sets instead, once."""
        self._stored: dict[str, int] | None = None
        self.told_tables: list[ByParameter] = []
        """Those whose table some call shows."""
        self.decorated: list[Decorated] = []
        self.decorators: set[int] = set()
        """Calls (by identity) that stand as decorators."""
        self.defaults: dict[tuple[int, int], str] = {}
        """Function and position of a parameter → the text that it is by default."""
        self._askers: frozenset[str] | None = None
        self._after: dict[int, list[ast.stmt]] = {}
        self._module_questions: frozenset[str] | None = None
        self.filled: frozenset[str] | None = None
        """Last names of what the file puts elements into; None: not looked for yet."""
        self.shrunk: frozenset[str] | None = None
        """Names of what the file takes keys from; None: not looked for yet."""
        self.dict_classes: set[str] = set()
        """Classes of the file that are dicts."""
        self.sites: dict[int, int] = {}
        """Expressions that make such containers (by identity) → their numbers."""
        self._global_names: frozenset[str] | None = None
        self._outside: dict[tuple[int, int], int] = {}
        self._filled_lists: frozenset[str] | None = None
        self._looked_for: frozenset[str] | None = None
        self._spells: bool | None = None
        self.package = file.path.endswith("__init__.py")
        file.guards.append(Guard(parent=0, kind=""))

    def use(
        self,
        kind: UseKind,
        node: int,
        where: ast.AST,
        name: str = "",
        value: int = UNKNOWN,
        count: int = 0,
        group: int = 0,
    ) -> None:
        """Record one use, once; see :class:`~sglang_contracts.plugin.ir.records.Use`."""
        if self.quiet or node == UNKNOWN:
            return
        line = getattr(where, "lineno", 1)
        column = getattr(where, "col_offset", 0) + 1
        if isinstance(where, ast.Attribute):  # a chain over several lines: where the name stands
            line = where.end_lineno or line
        key = (kind, node, line, column, self.guard, name, value, count, group)
        if key in self.seen_uses:
            return
        self.seen_uses.add(key)
        made = Use(kind, node, line, column, self.guard, name, value, count, group=group)
        made.function = self.scope.function
        self.file.uses.append(made)

    def needs(self, where: ast.AST, value: int, need: str) -> None:
        """Something is done with a value that upstream may say the kind of."""
        if type(self.nodes.table[value]) in _STATED:
            self.use(UseKind.NEED, value, where, name=need)

    def keyed(self, where: ast.AST, key: int, table: int) -> None:
        """An element of a series looks something up in what may be a mapping."""
        held = self.nodes.table[key]
        if type(held) is not Iter or table == UNKNOWN:
            return
        if type(self.nodes.table[held.base]) in _STATED:
            self.use(UseKind.NEED, held.base, where, name="hashed", value=table)

    def spelled(self, where: ast.AST, value: int, need: str) -> None:
        """The text of a value, in a file that spells such a text itself: ``"Color.RED"``."""
        if value != UNKNOWN and type(self.nodes.table[value]) is not Literal and self.spells():
            self.use(UseKind.NEED, value, where, name=need)

    def spells(self) -> bool:
        """Whether a constant of the file is what the text of an enum's member may be."""
        if self._spells is None:
            self._spells = any(
                isinstance(each, ast.Constant)
                and isinstance(each.value, str)
                and _MEMBER.match(each.value)
                for each in self.everything
            )
        return self._spells

    def new_group(self) -> int:
        """A group of alternatives that is no display's."""
        number = len(self.groups) + 1
        self.groups[(0, number)] = number  # no line has the number 0
        return number

    def mention(self, name: str) -> None:
        """Remember that a name stands in the present function, and so in those around it."""
        scope: Scope | None = self.scope
        while scope is not None:
            self.mentioned.setdefault(scope.function, set()).add(name)
            scope = scope.parent

    def where(self, parent: int, **more: object) -> int:
        """A guard, chained."""
        self.file.guards.append(Guard(parent=parent, **more))  # type: ignore[arg-type]
        return len(self.file.guards) - 1

    def outside_attempts(self, guard: int) -> int:
        """A guard without the attempts in it: a body that is run later is caught by none."""
        record = self.file.guards[guard]
        if not guard:
            return guard
        parent = self.outside_attempts(record.parent)
        if record.kind == "try" or parent == record.parent:
            return parent if record.kind == "try" else guard
        key = (guard, parent)
        if key not in self._outside:
            self.file.guards.append(msgspec.structs.replace(record, parent=parent))
            self._outside[key] = len(self.file.guards) - 1
        return self._outside[key]

    @contextmanager
    def under(self, guard: int) -> Iterator[None]:
        """Walk something under a guard."""
        before, self.guard = self.guard, guard
        try:
            yield
        finally:
            self.guard = before

    @contextmanager
    def maybe(self, unknown: bool = True) -> Iterator[None]:
        """Walk what may or may not run, where no node says when.

        Args:
            unknown: Whether that is so; else nothing changes.
        """
        scope = self.scope
        scope.maybe += unknown
        try:
            yield
        finally:
            scope.maybe -= unknown

    @contextmanager
    def silently(self) -> Iterator[None]:
        """Work out values without recording uses."""
        self.quiet += 1
        try:
            yield
        finally:
            self.quiet -= 1

    def moved(self) -> None:
        """From here on a name may stand for something else: nothing worked out holds any more."""
        self._states += 1
        self.state = self._states

    def next_statement(self) -> None:
        """What was worked out for one statement is of no use to the next."""
        self.worked_out.clear()
        self.moved()

    def bind(self, name: str, value: int) -> None:
        """Bind a name in the present scope."""
        self.moved()
        self.scope.names[name] = value
        if name in self.global_names() and name in self.scope.globals:
            self.file.kept.setdefault(name, []).append(value)
        self.scope.constants.pop(name, None)
        self.scope.variables.pop(name, None)
        for key in [k for k in self.scope.narrowed if k == name or k.startswith(name + ".")]:
            del self.scope.narrowed[key]

    def stored(self, name: str) -> int:
        """How often the file writes an attribute of that name, on whatever object."""
        if self._stored is None:
            self._stored = {}
            for each in self.everything:
                if isinstance(each, ast.Attribute) and not isinstance(each.ctx, ast.Load):
                    self._stored[each.attr] = self._stored.get(each.attr, 0) + 1
        return self._stored.get(name, 0)

    def global_names(self) -> frozenset[str]:
        """Names that functions of the file bind in its module."""
        if self._global_names is None:
            self._global_names = frozenset(
                name
                for each in self.everything
                if isinstance(each, ast.Global)
                for name in each.names
            )
        return self._global_names

    def returned(self, function: int, value: int) -> None:
        """Remember what a function returns, and under which guard."""
        record = self.file.functions[function]
        guard = self.guard
        if self.scope.maybe:
            # no node says when it runs: another ``return`` may be the one that is come to
            guard = self.where(guard, kind="if", condition=UNKNOWN)
        record.returns.append(value)
        record.return_guards.append(guard)

    def keep(self, qual: str, attr: str, value: int, line: int) -> None:
        """Remember what an own class's attribute holds."""
        record = self.file.classes.get(qual)
        if record is None:
            return
        values = record.attributes.setdefault(attr, [])
        if value not in values:
            values.append(value)
        record.lines.setdefault(attr, line)

    def both(self, one: int, other: int) -> int:
        """Either of two values; what is unknown in one is unknown."""
        if one == UNKNOWN or other == UNKNOWN:
            return UNKNOWN
        return self.nodes.union((one, other))

    def used_at_once(self, node: ast.expr) -> None:
        """What is made of a call's result needs the result itself, no coroutine."""
        if isinstance(node, ast.Call):
            self.awaiting.setdefault(id(node), -1)

    def following(self, node: ast.stmt) -> list[ast.stmt]:
        """The statements after one in its own block."""
        if not self._after:
            for parent in self.everything:
                for field in ("body", "orelse", "finalbody"):
                    block = getattr(parent, field, None)
                    if isinstance(block, list):
                        for position, each in enumerate(block):
                            self._after[id(each)] = block[position + 1 :]
        return self._after.get(id(node), [])

    def asks_for_module(self, called: ast.expr) -> bool:
        """Whether a call answers if a module is there: ``find_spec``, or a helper of the file."""
        if self._module_questions is None:
            self._module_questions = import_candidates.module_questions(self.everything)
        name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
        return name in self._module_questions

    def filled_lists(self) -> frozenset[str]:
        """Names of lists that the file adds to or takes from: a display is not all there is."""
        if self._filled_lists is None:
            self._filled_lists = frozenset(
                each.value.id
                for each in self.everything
                if isinstance(each, ast.Attribute)
                and each.attr in _FILLING
                and isinstance(each.value, ast.Name)
            )
        return self._filled_lists

    def looked_for(self) -> frozenset[str]:
        """Names whose value the file looks for somewhere: ``name in TABLE``."""
        if self._looked_for is None:
            self._looked_for = frozenset(
                each.left.id
                for each in self.everything
                if isinstance(each, ast.Compare)
                and isinstance(each.left, ast.Name)
                and isinstance(each.ops[0], (ast.In, ast.NotIn))
            )
        return self._looked_for

    def expr(self, node: ast.expr) -> int:
        """The value of an expression, as a node's index; records the uses in it.

        Several rules look at one expression, each by its value: it is worked out once for as long
        as the names in it stand for the same things. A chain of calls would otherwise cost twice
        as much with every link.
        """
        kind = type(node)
        handler = self._expressions.get(kind)
        if kind is ast.Name or kind is ast.Constant:
            return handler(self, node) if handler is not None else UNKNOWN
        key = (id(node), self.state, self.guard)
        held = self.worked_out.get(key)
        if held is not None and (held.loud or self.quiet):
            return held.value
        value = UNKNOWN
        if handler is not None:
            value = handler(self, node)
        else:
            for child in ast.iter_child_nodes(node):
                if isinstance(child, ast.expr):
                    self.expr(child)
        self.worked_out[key] = WorkedOut(value, not self.quiet, node)
        return value

    def statement(self, node: ast.stmt) -> None:
        """Walk one statement."""
        handler = self._statements.get(type(node))
        if handler is not None:
            handler(self, node)
            return
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                self.expr(child)
            elif isinstance(child, ast.stmt):
                self.statement(child)

    def block(self, body: Sequence[ast.stmt]) -> None:
        """Walk statements in order; a branch that leaves guards what follows it."""
        outer = self.guard
        before = set(self.scope.names)
        for position, statement in enumerate(body):
            self.next_statement()
            if isinstance(statement, ast.If):
                self.place = BlockPlace(body, position, before)
            self.statement(statement)
        self.guard = outer
        self.next_statement()
