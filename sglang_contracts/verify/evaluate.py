"""Symbolic values of a plugin and one release → what they are there.

A value is a tuple of alternatives, each a tagged tuple; an empty one is unknown.

=========== ======================= ==========================================
tag         holds                   is
=========== ======================= ==========================================
module      name                    a module or package of the release
class       symbol                  a class object
object      symbol, exact           an instance (exact: of that very class)
function    symbol, bound           a function; bound: its first parameter is given
list dict   value                   a container
tuple       values                  a tuple of known length
literal     kind                    a builtin
own-module  name                    a module of the plugin
own-class   file, qual              a class of the plugin
own-object  file, qual              an instance of one
own-func    file, index, bound      a function of the plugin
super       file, qual              ``super()``
=========== ======================= ==========================================
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from packaging.version import InvalidVersion, Version

from sglang_contracts.plugin import guards
from sglang_contracts.plugin.model import File, Function, Guard, OwnClass, Use, UseKind
from sglang_contracts.plugin.plugin import Plugin
from sglang_contracts.surface.model import (
    Attribute,
    Class,
    Condition,
    Kind,
    ParameterKind,
    Role,
)
from sglang_contracts.surface.model import Function as Recorded
from sglang_contracts.surface.model import (
    Value as RecordedValue,
)
from sglang_contracts.surface.resolve import Symbol
from sglang_contracts.verify.lens import Lens

Alternative = tuple[Any, ...]
Node = tuple[int, int]

_SCALARS = frozenset({"int", "float", "str", "bool", "bytes"})
_CONTAINERS = frozenset(
    {
        "List",
        "list",
        "Sequence",
        "Iterable",
        "Iterator",
        "Set",
        "set",
        "FrozenSet",
        "frozenset",
        "Deque",
        "deque",
        "Generator",
        "AsyncIterator",
        "AsyncGenerator",
        "Collection",
    }
)
_MAPPINGS = frozenset(
    {"Dict", "dict", "Mapping", "MutableMapping", "DefaultDict", "defaultdict", "OrderedDict"}
)
_WRAPPERS = frozenset(
    {
        "Optional",
        "ClassVar",
        "Final",
        "Annotated",
        "Awaitable",
        "Coroutine",
        "InitVar",
        "Required",
        "A",
    }
)
_SPECIAL = frozenset({"name", "value", "_name_", "_value_", "__members__", "mro"})


def is_weak(name: str) -> bool:
    """A name that could be anything: one plain word, such as ``batch``, ``mode``, ``req``.

    A finding never rests on one unless a second attribute agrees.
    """
    return "_" not in name.strip("_")


class Value(NamedTuple):
    """Alternatives, and the conventional name they rest on (empty: none)."""

    alternatives: tuple[Alternative, ...] = ()
    named: str = ""


NOTHING = Value()


class Look(NamedTuple):
    """An attribute of a value: what it is, or who lacks it."""

    value: Value
    found: tuple[Symbol, ...] = ()
    lost: tuple[Symbol, ...] = ()
    """Classes and modules that lack it, if all alternatives do."""


class Evaluator:
    """Works out nodes in one release after the other; see :meth:`move`.

    Args:
        plugin: What extraction found.
        lens: The releases.
        known_as: Conventional name → spellings of classes.
        distinctive: Attribute whose name alone tells what is meant → spellings of its class.
    """

    def __init__(
        self,
        plugin: Plugin,
        lens: Lens,
        known_as: Mapping[str, Sequence[str]],
        distinctive: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        self.plugin = plugin
        self.lens = lens
        self.known_as = known_as
        self.distinctive = distinctive or {}
        self.files = plugin.files
        self._memo: dict[Node, Value] = {}
        self._deps: dict[Node, frozenset[str]] = {}
        self._by_module: dict[str, set[Node]] = {}
        self._active: set[Node] = set()
        self._typed: dict[tuple[str, str], tuple[ast.expr | None]] = {}
        self.modules: dict[str, int] = {}
        root = plugin.path.rstrip("/").rsplit("/", 1)[-1]
        for index, file in enumerate(self.files):
            if file.module:
                self.modules[file.module] = index
                self.modules.setdefault(f"{root}.{file.module}", index)
            elif file.path == "__init__.py":
                self.modules.setdefault(root, index)
        self.packages = {
            ".".join(parts[:end])
            for parts in (name.split(".") for name in self.modules)
            for end in range(1, len(parts))
        }
        self.bindings: dict[tuple[int, int], list[tuple[int, int, str]]] = {}
        self.sites: dict[tuple[int, int], list[tuple[int, int]]] = {}
        self.attributes: dict[Node, set[str]] = {}
        self.attempts: dict[tuple[int, int], list[int]] = {}
        self._link()
        self.status_of: Any = None
        """Set by the checker: the status of a use (for ``try`` bodies)."""

    # -- links that no release changes ---------------------------------------------------------

    def _link(self) -> None:
        for index, file in enumerate(self.files):
            for node in file.nodes:
                if node[0] == "attr":
                    self.attributes.setdefault((index, node[1]), set()).add(node[2])
            for function, target, kind in file.bindings:
                found = self.own_function(index, function)
                if found is not None:
                    self.bindings.setdefault(found, []).append((index, target, kind))
            for number, use in enumerate(file.uses):
                if use.kind is UseKind.CALL:
                    self._site(index, file, use)
                elif use.kind is UseKind.WRITE and use.value:
                    found = self.own_function(index, use.value)
                    base = file.nodes[file.nodes[use.node][1]]
                    if found is not None and base[0] not in ("self", "ownclass", "known"):
                        self.bindings.setdefault(found, []).append((index, use.node, "replace"))
                guard = use.guard
                seen = set()
                while guard:
                    record = file.guards[guard]
                    if record.kind == "try" and record.condition not in seen:
                        seen.add(record.condition)
                        self.attempts.setdefault((index, record.condition), []).append(number)
                    guard = record.parent

    def _site(self, index: int, file: File, use: Use) -> None:
        node = file.nodes[use.node]
        if node[0] != "call":
            return
        callee = file.nodes[node[1]]
        found: tuple[int, int] | None = None
        skip = 0
        if callee[0] == "attr" and file.nodes[callee[1]][0] == "self":
            qual = file.nodes[callee[1]][1]
            method = self._own_method(index, qual, callee[2])
            if method is not None:
                found = method
                record = self.files[found[0]].functions[found[1]]
                skip = 0 if record.kind == "static" else 1
        else:
            found = self.own_function(index, node[1])
        if found is None:
            return
        form = file.forms[node[2]]
        record = self.files[found[0]].functions[found[1]]
        names = [each.name for each in record.parameters]
        for position, value in enumerate(form.positional):
            self.sites.setdefault((found[0], found[1] * 256 + position + skip), []).append(
                (index, value)
            )
        for keyword, value in form.keywords.items():
            if keyword in names:
                place = found[1] * 256 + names.index(keyword)
                self.sites.setdefault((found[0], place), []).append((index, value))

    def _own_method(
        self, index: int, qual: str, name: str, depth: int = 0
    ) -> tuple[int, int] | None:
        record = self.files[index].classes.get(qual)
        if record is None or depth > 8:
            return None
        if name in record.methods:
            return index, record.methods[name]
        for base in record.bases:
            found = self.own_class(index, base)
            if found is not None:
                method = self._own_method(found[0], found[1], name, depth + 1)
                if method is not None:
                    return method
        return None

    def own_name(self, module: str, name: str, depth: int = 0) -> tuple[int, int] | None:
        """Where a module of the plugin binds a name: file and node."""
        index = self.modules.get(module)
        if index is None or depth > 8:
            return None
        node = self.files[index].names.get(name)
        if node is not None:
            return index, node
        for star in self.files[index].stars:
            if not star.startswith(":"):
                found = self.own_name(star, name, depth + 1)
                if found is not None:
                    return found
        return None

    def _follow(self, index: int, node: int, depth: int = 0) -> tuple[int, int]:
        """Through imports of the plugin's own, to where a value is made."""
        held = self.files[index].nodes[node]
        if held[0] == "own" and held[2] and depth < 8:
            found = self.own_name(held[1], held[2])
            if found is not None:
                return self._follow(found[0], found[1], depth + 1)
        if held[0] == "wrapped" and depth < 8:
            return self._follow(index, held[2], depth + 1)
        if held[0] == "call" and depth < 8:  # a wrapper that returns an inner function
            callee = self._follow(index, held[1], depth + 1)
            inner = self.files[callee[0]].nodes[callee[1]]
            if inner[0] == "ownfunc":
                record = self.files[callee[0]].functions[inner[1]]
                if len(record.returns) == 1:
                    return self._follow(callee[0], record.returns[0], depth + 1)
        return index, node

    def own_function(self, index: int, node: int) -> tuple[int, int] | None:
        """The function of the plugin that a node certainly is."""
        index, node = self._follow(index, node)
        held = self.files[index].nodes[node]
        return (index, int(held[1])) if held[0] == "ownfunc" else None

    def own_class(self, index: int, node: int) -> tuple[int, str] | None:
        """The class of the plugin that a node certainly is."""
        index, node = self._follow(index, node)
        held = self.files[index].nodes[node]
        return (index, str(held[1])) if held[0] == "ownclass" else None

    def may_derive(self, index: int, qual: str, depth: int = 0) -> bool:
        """Whether an own class may have an upstream base, in any release."""
        record = self.files[index].classes.get(qual)
        if record is None or depth > 10:
            return False
        for base in record.bases:
            at, node = self._follow(index, base)
            held = self.files[at].nodes[node]
            if held[0] == "ownclass":
                if (at, held[1]) != (index, qual) and self.may_derive(at, held[1], depth + 1):
                    return True
            elif held[0] not in ("unknown", "foreign", "literal"):
                return True
        return False

    # -- releases ------------------------------------------------------------------------------

    def move(self, release: str) -> frozenset[str]:
        """Go to another release; what is forgotten is only what stands on changed modules."""
        changed = self.lens.move(release)
        for name in changed:
            for node in self._by_module.pop(name, ()):
                self._memo.pop(node, None)
                self._deps.pop(node, None)
        # what depends on the release's number alone
        for node in self._by_module.pop("release", ()):
            self._memo.pop(node, None)
            self._deps.pop(node, None)
        return changed

    def value(self, index: int, node: int) -> Value:
        """What a node is in the present release."""
        if node == 0:
            return NOTHING
        key = (index, node)
        held = self._memo.get(key)
        if held is not None:
            frames = self.lens.frames
            if frames:
                frames[-1] |= self._deps[key]
            return held
        if key in self._active or len(self._active) > 200:
            return NOTHING
        self._active.add(key)
        try:
            found, names = self.lens.track(
                lambda: self._work(index, self.files[index].nodes[node], node)
            )
        finally:
            self._active.discard(key)
        if not self._active or found.alternatives:
            self._memo[key] = found
            self._deps[key] = names
            for name in names:
                self._by_module.setdefault(name, set()).add(key)
        return found

    def union(self, values: Sequence[Value]) -> Value:
        """One of several; unknown if one is."""
        alternatives: dict[Alternative, None] = {}
        named = ""
        for value in values:
            if not value.alternatives:
                return NOTHING
            named = named or value.named
            alternatives.update(dict.fromkeys(value.alternatives))
        return Value(tuple(alternatives), named)

    def _work(self, index: int, node: Sequence[Any], number: int) -> Value:
        op = node[0]
        method = getattr(self, "_op_" + op.replace("-", "_"), None)
        if method is None:
            return NOTHING
        result = method(index, node, number)
        assert isinstance(result, Value)
        return result

    # -- operations ----------------------------------------------------------------------------

    def _op_import(self, index: int, node: Sequence[Any], number: int) -> Value:
        _, module, name = node
        if not name:
            return Value((("module", module),)) if self.lens.has_module(module) else NOTHING
        if not self.lens.covers(module):
            return NOTHING
        symbol = self.lens.find(module, name)
        return Value(self.of_symbol(symbol)) if symbol is not None else NOTHING

    def _op_dotted(self, index: int, node: Sequence[Any], number: int) -> Value:
        symbol = self.resolve(node[1])
        return Value(self.of_symbol(symbol)) if symbol is not None else NOTHING

    def resolve(self, text: str) -> Symbol | None:
        """What a dotted string names."""
        module, colon, qual = text.partition(":")
        if colon:
            # the module part may itself end in a class
            found = self.lens.find(module, qual)
            return found if found is not None else self.lens.parse(f"{module}.{qual}")
        return self.lens.parse(text)

    def _op_attr(self, index: int, node: Sequence[Any], number: int) -> Value:
        look = self.look(self.value(index, node[1]), node[2])
        if look.value.alternatives or look.lost:
            return look.value
        return self.known(node[2], (index, number))

    def _op_literal(self, index: int, node: Sequence[Any], number: int) -> Value:
        return Value((("literal", node[1]),))

    def _op_instance(self, index: int, node: Sequence[Any], number: int) -> Value:
        value = self.value(index, node[1])
        found: list[Alternative] = []
        for each in value.alternatives:
            if each[0] == "class":
                found.append(("object", each[1], False))
            elif each[0] == "own-class":
                found.append(("own-object", each[1], each[2]))
            elif each[0] == "object":  # a type alias held as a value
                found.append(each)
            else:
                return NOTHING
        return Value(tuple(found), value.named)

    def _op_union(self, index: int, node: Sequence[Any], number: int) -> Value:
        none = ("literal", "None")
        values = [self.value(index, each) for each in node[1:]]
        return self.union([value for value in values if value.alternatives != (none,)])

    def _op_list(self, index: int, node: Sequence[Any], number: int) -> Value:
        return Value((("list", self.value(index, node[1])),))

    def _op_dict(self, index: int, node: Sequence[Any], number: int) -> Value:
        return Value((("dict", self.value(index, node[1])),))

    def _op_tuple(self, index: int, node: Sequence[Any], number: int) -> Value:
        return Value((("tuple", tuple(self.value(index, each) for each in node[1:])),))

    def _op_iter(self, index: int, node: Sequence[Any], number: int) -> Value:
        return self.element(self.value(index, node[1]), None)

    def _op_item(self, index: int, node: Sequence[Any], number: int) -> Value:
        return self.element(self.value(index, node[1]), node[2], subscript=True)

    def _op_unpack(self, index: int, node: Sequence[Any], number: int) -> Value:
        value = self.value(index, node[1])
        found = []
        for each in value.alternatives:
            if each[0] == "tuple":
                place = node[2]
                if -len(each[1]) <= place < len(each[1]):
                    found.append(each[1][place])
                else:
                    return NOTHING
            elif each[0] == "list":
                found.append(each[1])
            elif each[0] == "object" and node[3] == -1:
                return NOTHING
            else:
                return NOTHING
        return self.union(found) if found else NOTHING

    def element(self, value: Value, key: str | None, subscript: bool = False) -> Value:
        """An element of a container."""
        found = []
        for each in value.alternatives:
            if each[0] == "list" or (each[0] == "dict" and subscript):
                found.append(each[1])
            elif each[0] == "tuple" and each[1]:
                found.append(self.union(each[1]))
            else:
                return NOTHING
        return self.union(found) if found else NOTHING

    def _op_enter(self, index: int, node: Sequence[Any], number: int) -> Value:
        value = self.value(index, node[1])
        found: list[Value] = []
        for each in value.alternatives:
            if each[0] != "object":
                return NOTHING
            member = self.lens.member(each[1], "__enter__")
            if member is None or not isinstance(member.node, Recorded):
                return NOTHING
            if member.node.returns:
                found.append(Value(self.typed(member.module, member.node.returns)))
            elif member.node.result == "self":
                found.append(Value((each,)))
            else:
                return NOTHING
        return self.union(found) if found else NOTHING

    def _op_param(self, index: int, node: Sequence[Any], number: int) -> Value:
        return self.parameter(index, node[1], node[2], number)

    def _op_self(self, index: int, node: Sequence[Any], number: int) -> Value:
        return Value((("own-object", index, node[1]),))

    def _op_super(self, index: int, node: Sequence[Any], number: int) -> Value:
        return Value((("super", index, node[1]),))

    def _op_ownclass(self, index: int, node: Sequence[Any], number: int) -> Value:
        return Value((("own-class", index, node[1]),))

    def _op_ownfunc(self, index: int, node: Sequence[Any], number: int) -> Value:
        return Value((("own-func", index, node[1], False),))

    def _op_own(self, index: int, node: Sequence[Any], number: int) -> Value:
        _, module, name = node
        return self.own_member(module, name)

    def own_member(self, module: str, name: str) -> Value:
        """A name of one of the plugin's modules."""
        if not name:
            return Value((("own-module", module),))
        found = self.own_name(module, name)
        if found is not None:
            return self.value(*found)
        below = f"{module}.{name}"
        if below in self.modules or below in self.packages:
            return Value((("own-module", below),))
        at = self.modules.get(module)
        if at is not None:
            for star in self.files[at].stars:
                if star.startswith(":"):
                    symbol = self.lens.find(star[1:], name)
                    if symbol is not None:
                        return Value(self.of_symbol(symbol))
        return NOTHING

    def _op_known(self, index: int, node: Sequence[Any], number: int) -> Value:
        return self.known(node[1], (index, number))

    def _op_wrapped(self, index: int, node: Sequence[Any], number: int) -> Value:
        return self.value(index, node[2]) if node[1] != "property" else NOTHING

    def _op_partial(self, index: int, node: Sequence[Any], number: int) -> Value:
        return NOTHING

    def _op_probe(self, index: int, node: Sequence[Any], number: int) -> Value:
        base = self.files[index].nodes[node[1]]
        if base[0] == "attr":
            look = self.look(self.value(index, base[1]), base[2])
            if look.lost:
                return self.value(index, node[2])
            if look.found:
                return look.value
        value, default = self.value(index, node[1]), self.value(index, node[2])
        if default.alternatives == (("literal", "None"),) or not node[2]:
            return value
        return self.union([value, default])

    def _op_typeof(self, index: int, node: Sequence[Any], number: int) -> Value:
        value = self.value(index, node[1])
        found: list[Alternative] = []
        for each in value.alternatives:
            if each[0] == "object" and each[2]:
                found.append(("class", each[1]))
            elif each[0] == "own-object":
                found.append(("own-class", each[1], each[2]))
            else:
                return NOTHING
        return Value(tuple(found), value.named)

    def _op_select(self, index: int, node: Sequence[Any], number: int) -> Value:
        truth = self.condition(index, node[1])
        if truth is not None:
            return self.value(index, node[2] if truth else node[3])
        values = [self.value(index, node[2]), self.value(index, node[3])]
        none = ("literal", "None")
        kept = [value for value in values if value.alternatives != (none,)]
        return self.union(kept) if kept else values[0]

    def _op_tried(self, index: int, node: Sequence[Any], number: int) -> Value:
        went = self.went(index, node[1])
        return self.value(index, node[3] if went is False else node[2])

    def _op_call(self, index: int, node: Sequence[Any], number: int) -> Value:
        callee = self.value(index, node[1])
        found: list[Value] = []
        for each in callee.alternatives:
            match each:
                case ("class", symbol):
                    found.append(Value((("object", symbol, True),)))
                case ("own-class", file, qual):
                    found.append(Value((("own-object", file, qual),)))
                case ("function", symbol, _):
                    found.append(self.returned(symbol))
                case ("own-func", file, number_, _):
                    found.append(self.own_returned(file, number_))
                case _:
                    return NOTHING
        value = self.union(found) if found else NOTHING
        return Value(value.alternatives, value.named or callee.named)

    def returned(self, symbol: Symbol) -> Value:
        """What a call of a function of the release gives, as far as its text tells."""
        node = symbol.node
        if not isinstance(node, Recorded) or node.role & (Role.GENERATOR | Role.CONTEXT_MANAGER):
            return NOTHING
        if node.returns:
            if node.returns in ("Self", "typing.Self", "'Self'") and symbol.owner is not None:
                return Value((("object", symbol.owner, False),))
            return Value(self.typed(symbol.module, node.returns))
        if node.result:
            return Value(self.made(symbol.module, node.result, symbol.owner))
        return NOTHING

    def own_returned(self, file: int, number: int) -> Value:
        """What a call of a function of the plugin gives."""
        record = self.files[file].functions[number]
        if record.annotation:
            value = self.value(file, record.annotation)
            if value.alternatives:
                return value
        if record.is_generator or record.kind == "overload" or not record.returns:
            return NOTHING
        none = (("literal", "None"),)
        values = [self.value(file, each) for each in record.returns]
        kept = [value for value in values if value.alternatives != none]
        return self.union(kept) if kept else values[0]

    # -- types in a release's own text -----------------------------------------------------------

    def typed(self, module: str, text: str) -> tuple[Alternative, ...]:
        """What an annotation written in a module means."""
        key = (module, text)
        held = self._typed.get(key)
        if held is None:
            try:
                tree: ast.expr | None = ast.parse(text.strip(), mode="eval").body
            except (SyntaxError, ValueError, RecursionError):
                tree = None
            held = self._typed[key] = (tree,)
        if held[0] is None:
            return ()
        return self._annotation(module, held[0]).alternatives

    def _annotation(self, module: str, node: ast.expr) -> Value:
        match node:
            case ast.Constant(value=None):
                return Value((("literal", "None"),))
            case ast.Constant(value=str(text)):
                return Value(self.typed(module, text))
            case ast.BinOp(left=left, op=ast.BitOr(), right=right):
                return self._one_of(module, [left, right])
            case ast.Subscript(value=outer, slice=inner):
                name = guards.last_name(outer)
                arguments = inner.elts if isinstance(inner, ast.Tuple) else [inner]
                if name == "Union":
                    return self._one_of(module, arguments)
                if name in _WRAPPERS:
                    return self._annotation(module, arguments[-1 if name == "Coroutine" else 0])
                if name in ("Type", "type"):
                    value = self._annotation(module, arguments[0])
                    if all(each[0] == "object" for each in value.alternatives):
                        return Value(tuple(("class", each[1]) for each in value.alternatives))
                    return NOTHING
                if name in _CONTAINERS:
                    return Value((("list", self._annotation(module, arguments[0])),))
                if name in _MAPPINGS and len(arguments) == 2:
                    return Value((("dict", self._annotation(module, arguments[1])),))
                if name in ("Tuple", "tuple"):
                    if len(arguments) == 2 and isinstance(arguments[1], ast.Constant):
                        return Value((("list", self._annotation(module, arguments[0])),))
                    return Value(
                        (("tuple", tuple(self._annotation(module, each) for each in arguments)),)
                    )
                return self._annotation(module, outer)
            case ast.Name(id=name):
                symbol = self.lens.scope(module, name)
                if symbol is None:
                    if name in _SCALARS:
                        return Value((("literal", name),))
                    if name in ("List", "list", "Tuple", "tuple", "Dict", "dict", "set", "Set"):
                        return Value((("literal", name.lower()),))
                    return NOTHING
                return Value(self._instance(symbol))
            case ast.Attribute(value=outer, attr=attr):
                inner_symbol = self._dotted(module, outer)
                if inner_symbol is None:
                    return NOTHING
                found = self._step(inner_symbol, attr)
                return Value(self._instance(found)) if found is not None else NOTHING
        return NOTHING

    def _instance(self, symbol: Symbol) -> tuple[Alternative, ...]:
        if symbol.kind == "class":
            return (("object", symbol, False),)
        if symbol.kind == "value" and isinstance(symbol.node, RecordedValue):
            text = symbol.node.value
            if text and text != symbol.qual and ("[" in text or "|" in text):
                return self.typed(symbol.module, text)  # a type alias
        return ()

    def _one_of(self, module: str, nodes: Sequence[ast.expr]) -> Value:
        values = [self._annotation(module, each) for each in nodes]
        none = (("literal", "None"),)
        return self.union([value for value in values if value.alternatives != none])

    def _dotted(self, module: str, node: ast.expr) -> Symbol | None:
        if isinstance(node, ast.Name):
            return self.lens.scope(module, node.id)
        if isinstance(node, ast.Attribute):
            outer = self._dotted(module, node.value)
            return self._step(outer, node.attr) if outer is not None else None
        return None

    def _step(self, symbol: Symbol, name: str) -> Symbol | None:
        if symbol.kind == "module":
            return self.lens.top(symbol.module, name)
        return self.lens.member(symbol, name) if symbol.kind == "class" else None

    def made(self, module: str, text: str, owner: Symbol | None = None) -> tuple[Alternative, ...]:
        """What an expression in a release's own text evidently is: ``Class(…)``, ``self._x``."""
        if len(text) > 400:
            return ()
        try:
            node = ast.parse(text.strip(), mode="eval").body
        except (SyntaxError, ValueError, RecursionError):
            return ()
        return self._made(module, node, owner, 0)

    def _made(
        self, module: str, node: ast.expr, owner: Symbol | None, depth: int
    ) -> tuple[Alternative, ...]:
        if depth > 4:
            return ()
        match node:
            case ast.Call(func=func):
                symbol = self._dotted(module, func)
                if symbol is None:
                    return ()
                if symbol.kind == "class":
                    return (("object", symbol, True),)
                if symbol.kind in ("function", "method"):
                    return self.returned(symbol).alternatives if depth < 3 else ()
                return ()
            case ast.Attribute(value=ast.Name(id="self"), attr=attr) if owner is not None:
                found = self.lens.member(owner, attr)
                if found is None or found.kind == "method":
                    return ()
                return self.member_value(found, attr).alternatives
            case ast.Name(id="self") if owner is not None:
                return (("object", owner, False),)
            case ast.Tuple(elts=elements):
                parts = tuple(
                    Value(self._made(module, each, owner, depth + 1)) for each in elements
                )
                return (("tuple", parts),)
            case ast.Name() | ast.Attribute():
                symbol = self._dotted(module, node)
                return self.of_symbol(symbol) if symbol is not None else ()
            case ast.Constant(value=value):
                if value is None:
                    return ()
                kind = type(value).__name__
                return (("literal", kind),) if kind in _SCALARS else ()
        return ()

    def of_symbol(self, symbol: Symbol) -> tuple[Alternative, ...]:
        """The value of a symbol read off its module."""
        match symbol.kind:
            case "module":
                return (("module", symbol.module),)
            case "class":
                return (("class", symbol),)
            case "function":
                return (("function", symbol, False),)
            case "method":
                node = symbol.node
                bound = isinstance(node, Recorded) and bool(node.role & Role.CLASS)
                return (("function", symbol, bound),)
            case "enum-member" if symbol.owner is not None:
                return (("object", symbol.owner, True),)
            case "value" if isinstance(symbol.node, RecordedValue):
                if symbol.node.annotation:
                    return self.typed(symbol.module, symbol.node.annotation)
                if symbol.node.value and not symbol.node.keys:
                    return self.made(symbol.module, symbol.node.value)
        return ()

    def member_value(self, symbol: Symbol, name: str) -> Value:
        """The value of a member read off an instance."""
        node = symbol.node
        if isinstance(node, Recorded):
            if symbol.kind == "property":
                return self.returned(symbol)
            bound = not node.role & Role.STATIC
            return Value((("function", symbol, bound),))
        if isinstance(node, Attribute):
            if symbol.kind == "enum-member" and symbol.owner is not None:
                return Value((("object", symbol.owner, True),))
            found: tuple[Alternative, ...] = ()
            if node.annotation:
                found = self.typed(symbol.module, node.annotation)
            elif node.value and not node.condition & Condition.SEVERAL:
                found = self.made(symbol.module, node.value, symbol.owner)
                # what is assigned in several places may be of another class in one of them
                found = tuple(
                    ("object", each[1], False) if each[0] == "object" else each for each in found
                )
            found = tuple(each for each in found if each != ("literal", "None"))
            return Value(found)
        if isinstance(node, Class):
            return Value((("class", symbol),))
        return NOTHING

    # -- names -----------------------------------------------------------------------------------

    def known(self, name: str, node: Node | None) -> Value:
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
            attributes = self.attributes.get(node, set())
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
        return Value(tuple(("object", each, False) for each in candidates), name)

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
        return Value((("object", symbol, False),), name)

    def by_attribute(self, name: str) -> Value:
        """An object of which nothing is known but that an attribute of a telling name is read."""
        for spelling in self.distinctive.get(name, ()):
            symbol = self.lens.parse(spelling)
            if symbol is not None and symbol.kind == "class":
                return Value((("object", symbol, False),), name)
        return NOTHING

    # -- attributes ------------------------------------------------------------------------------

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
        result = self.union(values) if values and not unknown else NOTHING
        return Look(
            Value(result.alternatives, result.named or value.named), tuple(found), tuple(lost)
        )

    def _look(self, each: Alternative, name: str) -> Look | None:
        """One alternative; None where nothing can be said."""
        lens = self.lens
        match each:
            case ("module", module):
                symbol = lens.top(module, name)
                if symbol is not None and not self.dangling(module, name):
                    return Look(Value(self.of_symbol(symbol)), (symbol,))
                owner = Symbol(module, "", "module", lens.module(module))
                if not lens.covers(f"{module}.{name}") or lens.is_open(owner):
                    return None
                return Look(NOTHING, (), (owner,))
            case ("class", symbol):
                return self._class_member(symbol, name)
            case ("object", symbol, exact):
                return self._object_member(symbol, name, exact)
            case ("own-object", file, qual):
                return self._own_member(file, qual, name, instance=True)
            case ("own-class", file, qual):
                return self._own_member(file, qual, name, instance=False)
            case ("super", file, qual):
                return self._own_bases(file, qual, name, instance=True)
            case ("own-module", module):
                value = self.own_member(module, name)
                return Look(value, ()) if value.alternatives else None
        return None

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
                return Look(Value((("function", found, bool(node.role & Role.CLASS)),)), (found,))
            return Look(self.member_value(found, name), (found,))
        if name == "__init__":
            return Look(NOTHING, (symbol,))
        if self.closed(symbol, name) and not self.registered(symbol, name):
            return Look(NOTHING, (), (symbol,))
        return None

    def registered(self, symbol: Symbol, name: str) -> bool:
        """Whether a class that keeps a register of itself has an entry of that name."""
        if self.lens.member(symbol, "register") is None:
            return False
        self.lens.touch("release")
        return name in self.lens.registrations("register")

    def _object_member(self, symbol: Symbol, name: str, exact: bool) -> Look | None:
        found = self.lens.member(symbol, name)
        if found is not None:
            return Look(self.member_value(found, name), (found,))
        if not self.closed(symbol, name) or (not exact and self.in_subclass(symbol, name)):
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
        for place in self.lens.places(name):
            module, _, qual = place.partition(":")
            if not qual:
                continue
            other = self.lens.find(module, qual)
            if (other is not None and other.kind == "class" and other != symbol) and (
                symbol in self.lens.mro(other)
            ):
                return True
        return False

    def _own_member(self, file: int, qual: str, name: str, instance: bool) -> Look | None:
        record = self.files[file].classes.get(qual)
        if record is None:
            return None
        if name in record.methods:
            number = record.methods[name]
            method = self.files[file].functions[number]
            if method.kind == "property":
                return Look(self.own_returned(file, number) if instance else NOTHING)
            bound = (instance and method.kind != "static") or method.kind == "class"
            return Look(Value((("own-func", file, number, bound),)))
        if name in record.attributes:
            none = (("literal", "None"),)
            values = [self.value(file, node) for node in record.attributes[name]]
            kept = [value for value in values if value.alternatives != none]
            return Look(self.union(kept) if kept else NOTHING)
        return self._own_bases(file, qual, name, instance)

    def _own_bases(self, file: int, qual: str, name: str, instance: bool) -> Look | None:
        record = self.files[file].classes.get(qual)
        if record is None:
            return None
        lost: list[Symbol] = []
        unknown = record.open or record.decorated
        for base in record.bases:
            value = self.value(file, base)
            if len(value.alternatives) != 1:
                unknown = True
                continue
            each = value.alternatives[0]
            if each[0] == "class":
                look = (
                    self._object_member(each[1], name, True)
                    if instance
                    else self._class_member(each[1], name)
                )
            elif each[0] == "own-class" and (each[1], each[2]) != (file, qual):
                look = self._own_member(each[1], each[2], name, instance)
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

    def upstream_bases(self, file: int, qual: str, depth: int = 0) -> tuple[list[Symbol], bool]:
        """The nearest upstream classes of an own class, and whether all its bases are known."""
        record = self.files[file].classes.get(qual)
        if record is None or depth > 10:
            return [], False
        found: list[Symbol] = []
        complete = not record.open
        for base in record.bases:
            value = self.value(file, base)
            if len(value.alternatives) != 1:
                complete = False
                continue
            each = value.alternatives[0]
            if each[0] == "class":
                found.append(each[1])
            elif each[0] == "own-class":
                inner, whole = self.upstream_bases(each[1], each[2], depth + 1)
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

    # -- parameters --------------------------------------------------------------------------------

    def parameter(self, index: int, number: int, position: int, node: int) -> Value:
        """A parameter of one of the plugin's functions."""
        record = self.files[index].functions[number]
        own = record.parameters[position]
        if own.annotation:
            value = self.value(index, own.annotation)
            if value.alternatives:
                return value
            held = self.files[index].nodes[own.annotation]
            inner = self.files[index].nodes[held[1]] if held[0] == "instance" else held
            if inner[0] != "foreign" or inner[2] != "Any":
                return NOTHING
        if record.owner:
            short = record.qual.rsplit(".", 1)[-1]
            target = self.base_member(index, record.owner, short)
            if target is not None and isinstance(target.node, Recorded):
                value = self._like(target, record, position, 0)
                if value.alternatives:
                    return value
        for file, node_target, kind in self.bindings.get((index, number), ()):
            value = self._bound(file, node_target, kind, record, position)
            if value.alternatives:
                return value
        sites = self.sites.get((index, number * 256 + position), ())
        if sites and len(sites) <= 40:
            values = [self.value(*site) for site in sites]
            value = self.union(values)
            if value.alternatives and all(a[0] != "literal" for a in value.alternatives):
                return value
        return self.known(own.name, (index, node))

    def _bound(self, file: int, target: int, kind: str, record: Function, position: int) -> Value:
        node = self.files[file].nodes[target]
        found: tuple[Symbol, ...]
        if node[0] == "attr":
            found = self.look(self.value(file, node[1]), node[2]).found
            if not found:
                base = self.value(file, node[1])
                if position == 0 and base.alternatives and base.alternatives[0][0] == "class":
                    return Value((("object", base.alternatives[0][1], False),))
        else:
            symbol = self.resolve(node[1]) if node[0] == "dotted" else None
            found = (symbol,) if symbol is not None else ()
        if len(found) != 1:
            return NOTHING
        shift = 1 if kind in ("around", "after") else 0
        if position < shift:
            return Value(self.of_symbol(found[0])) if kind == "around" else NOTHING
        return self._like(found[0], record, position, shift)

    def _like(self, target: Symbol, record: Function, position: int, shift: int) -> Value:
        """The type that the parameter of an upstream function at that place has."""
        node = target.node
        if not isinstance(node, Recorded):
            return NOTHING
        name = record.parameters[position].name
        parameters = node.parameters
        chosen = next((each for each in parameters if each.name == name), None)
        if chosen is None:
            place = position - shift
            positional = [
                each
                for each in parameters
                if each.kind in (ParameterKind.POSITIONAL, ParameterKind.POSITIONAL_ONLY)
            ]
            if 0 <= place < len(positional):
                chosen = positional[place]
        if chosen is None:
            return NOTHING
        if position == shift and target.owner is not None and not node.role & Role.STATIC:
            return Value((("object", target.owner, False),))
        if chosen.annotation:
            value = Value(self.typed(target.module, chosen.annotation))
            if value.alternatives:
                return value
        return NOTHING

    # -- conditions --------------------------------------------------------------------------------

    def condition(self, index: int, node: int) -> bool | None:
        """Whether a condition holds in the present release; None where that cannot be told."""
        if node == 0:
            return None
        held = self.files[index].nodes[node]
        match held[0]:
            case "always":
                return True
            case "never":
                return False
            case "version-is":
                self.lens.touch("release")
                return self.version_is(held[1], held[2], held[3])
            case "has":
                value = self.value(index, held[1])
                look = self.look(value, held[2])
                if look.lost:
                    return False
                return True if look.found else None
            case "not":
                inner = self.condition(index, held[1])
                return None if inner is None else not inner
            case "and":
                parts = [self.condition(index, each) for each in held[1:]]
                if False in parts:
                    return False
                return None if None in parts else True
            case "or":
                parts = [self.condition(index, each) for each in held[1:]]
                if True in parts:
                    return True
                return None if None in parts else False
            case "went":
                return self.went(index, held[1])
            case "truth":
                return self.truth(index, held[1])
        return self.truth(index, node)

    def truth(self, index: int, node: int, depth: int = 0) -> bool | None:
        """Whether a value is true; None where that cannot be told."""
        if node == 0 or depth > 12:
            return None
        held = self.files[index].nodes[node]
        match held[0]:
            case "literal":
                return {"None": False, "true": True, "false": False}.get(held[1])
            case "tried":
                went = self.went(index, held[1])
                return self.truth(index, held[3] if went is False else held[2], depth + 1)
            case "select":
                chosen = self.condition(index, held[1])
                if chosen is not None:
                    return self.truth(index, held[2] if chosen else held[3], depth + 1)
                one = self.truth(index, held[2], depth + 1)
                return one if one == self.truth(index, held[3], depth + 1) else None
            case "import":
                return True if self.value(index, node).alternatives else None
            case "ownfunc" | "ownclass":
                return True
            case "own":
                found = self.own_name(held[1], held[2]) if held[2] else None
                return self.truth(*found, depth=depth + 1) if found is not None else None
            case "probe":
                base = self.files[index].nodes[held[1]]
                if base[0] == "attr":
                    value = self.value(index, base[1])
                    look = self.look(value, base[2])
                    if look.lost:
                        return self.truth(index, held[2], depth + 1)
                    if look.found and look.found[0].kind in ("method", "function", "class"):
                        return True
                return None
            case "attr":
                look = self.look(self.value(index, held[1]), held[2])
                base = self.value(index, held[1])
                if base.alternatives and base.alternatives[0][0] == "own-module":
                    found = self.own_name(base.alternatives[0][1], held[2])
                    return self.truth(*found, depth=depth + 1) if found is not None else None
                return True if look.found and look.found[0].kind in ("method", "class") else None
            case "call":
                called = self.own_function(index, held[1])
                if called is None:
                    return None
                record = self.files[called[0]].functions[called[1]]
                answers = {self.truth(called[0], each, depth + 1) for each in record.returns}
                return answers.pop() if len(answers) == 1 else None
            case (
                "always" | "never" | "version-is" | "has" | "not" | "and" | "or" | "went" | "truth"
            ):
                return self.condition(index, node)
        return None

    def version_is(self, sign: str, form: str, constant: str) -> bool | None:
        """Compare the present release with a constant as the plugin does."""
        return compare_release(self.lens.release, sign, form, constant)

    def went(self, index: int, attempt: int) -> bool | None:
        """Whether a ``try`` goes through: False where something in it is certainly missing."""
        if self.status_of is None:
            return None
        record = self.files[index].attempts[attempt]
        return bool(self.status_of(index, attempt, record))


def compare_release(release: str, sign: str, form: str, constant: str) -> bool | None:
    """Compare a release with a constant: as parsed versions, as text, or as a tuple of numbers."""
    try:
        here, there = Version(release), Version(constant)
    except InvalidVersion:
        return None
    if form == "tuple":
        length = len(constant.split("."))
        one = (here.release + (0,) * length)[: max(length, len(here.release))]
        return _compare(sign, one, there.release)
    if form == "text":
        return _compare(sign, release, constant)
    return _compare(sign, here, there)


def _compare(sign: str, one: Any, other: Any) -> bool:
    return bool(
        {
            "<": one < other,
            "<=": one <= other,
            ">": one > other,
            ">=": one >= other,
            "==": one == other,
            "!=": one != other,
        }[sign]
    )


__all__ = ["Evaluator", "Guard", "Look", "OwnClass", "Value"]
