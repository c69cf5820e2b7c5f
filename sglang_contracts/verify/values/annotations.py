"""What annotations, and expressions that are evident, in a release's own text mean."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from sglang_contracts.plugin.walk import except_clauses as guards
from sglang_contracts.plugin.walk.string_constants import MAPPINGS
from sglang_contracts.surface.model import (
    Attribute,
    Class,
    Condition,
    Role,
)
from sglang_contracts.surface.model import Function as Recorded
from sglang_contracts.surface.model import (
    Value as RecordedValue,
)
from sglang_contracts.surface.symbol import Symbol
from sglang_contracts.verify.answers.lens import Lens
from sglang_contracts.verify.values import builtin_kinds as kinds
from sglang_contracts.verify.values.ask import Ask
from sglang_contracts.verify.values.value import (
    NONE,
    NOTHING,
    Alternative,
    Builtin,
    ClassRef,
    FunctionRef,
    ModuleRef,
    ObjectOf,
    Value,
    dict_of,
    list_of,
    one,
    tuple_of,
    union,
)

_CUT = re.compile(r"([A-Za-z_][\w.]*)\(.*…\Z", re.DOTALL)
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


class Annotations:
    """Works out types in the present release of a lens."""

    def __init__(self, lens: Lens, ask: Ask) -> None:
        self.lens = lens
        self.ask = ask

    def typed(self, module: str, text: str) -> tuple[Alternative, ...]:
        """What an annotation written in a module means."""
        tree = kinds.parsed(text)
        return () if tree is None else self._annotation(module, tree).alternatives

    def _annotation(self, module: str, node: ast.expr) -> Value:
        match node:
            case ast.Constant(value=None):
                return one(NONE)
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
                    return _classes(value)
                if name in _CONTAINERS:
                    return list_of(self._annotation(module, arguments[0]))
                if name in MAPPINGS and len(arguments) == 2:
                    return dict_of(self._annotation(module, arguments[1]))
                if name in ("Tuple", "tuple"):
                    if len(arguments) == 2 and isinstance(arguments[1], ast.Constant):
                        return list_of(self._annotation(module, arguments[0]))
                    return tuple_of([self._annotation(module, each) for each in arguments])
                return self._annotation(module, outer)
            case ast.Name(id=name):
                symbol = self.lens.scope(module, name)
                if symbol is None:
                    if name in _SCALARS:
                        return one(Builtin(name))
                    if name in ("List", "list", "Tuple", "tuple", "Dict", "dict", "set", "Set"):
                        return one(Builtin(name.lower()))
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
            return (ObjectOf(symbol, False),)
        if symbol.kind == "value" and isinstance(symbol.node, RecordedValue):
            text = symbol.node.value
            if text and text != symbol.qual and ("[" in text or "|" in text):
                return self.typed(symbol.module, text)  # a type alias
        return ()

    def _one_of(self, module: str, nodes: Sequence[ast.expr]) -> Value:
        values = [self._annotation(module, each) for each in nodes]
        return union(value for value in values if not value.is_none())

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
        cut = _CUT.match(text)
        if cut:  # the recorder shortens long texts: what is made is in front
            symbol = self._dotted(module, ast.parse(cut.group(1), mode="eval").body)
            if symbol is None or symbol.kind != "class":
                return ()
            return (ObjectOf(symbol, False),)
        node = kinds.parsed(text)
        return () if node is None else self._made(module, node, owner, 0)

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
                    return (ObjectOf(symbol, True),)
                if symbol.kind in ("function", "method"):
                    return self.ask.returned(symbol).alternatives if depth < 3 else ()
                return ()
            case ast.Attribute(value=ast.Name(id="self"), attr=attr) if owner is not None:
                found = self.lens.member(owner, attr)
                if found is None or found.kind == "method":
                    return ()
                return self.member_value(found, attr).alternatives
            case ast.Name(id="self") if owner is not None:
                return (ObjectOf(owner, False),)
            case ast.Tuple(elts=elements):
                parts = [Value(self._made(module, each, owner, depth + 1)) for each in elements]
                return tuple_of(parts).alternatives
            case ast.Name() | ast.Attribute():
                symbol = self._dotted(module, node)
                return self.of_symbol(symbol) if symbol is not None else ()
            case ast.Constant(value=value):
                if value is None:
                    return ()
                kind = type(value).__name__
                return (Builtin(kind),) if kind in _SCALARS else ()
        return ()

    def of_symbol(self, symbol: Symbol) -> tuple[Alternative, ...]:
        """The value of a symbol read off its module."""
        match symbol.kind:
            case "module":
                return (ModuleRef(symbol.module),)
            case "class":
                return (ClassRef(symbol),)
            case "function":
                return (FunctionRef(symbol, False),)
            case "method":
                node = symbol.node
                bound = isinstance(node, Recorded) and bool(node.role & Role.CLASS)
                return (FunctionRef(symbol, bound),)
            case "enum-member" if symbol.owner is not None:
                return (ObjectOf(symbol.owner, True),)
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
                return self.ask.returned(symbol)
            bound = not node.role & Role.STATIC
            return one(FunctionRef(symbol, bound))
        if isinstance(node, Attribute):
            if symbol.kind == "enum-member" and symbol.owner is not None:
                return one(ObjectOf(symbol.owner, True))
            found: tuple[Alternative, ...] = ()
            if node.annotation:
                found = self.typed(symbol.module, node.annotation)
            elif node.value and not node.condition & Condition.SEVERAL:
                found = self.made(symbol.module, node.value, symbol.owner)
                # what is assigned in several places may be of another class in one of them
                found = tuple(
                    ObjectOf(each.symbol, None) if type(each) is ObjectOf else each
                    for each in found
                )
            found = tuple(each for each in found if each != NONE)
            return Value(found)
        if isinstance(node, Class):
            return one(ClassRef(symbol))
        return NOTHING


def _classes(objects: Value) -> Value:
    """The classes of what a value is an object of: ``type[X]`` holds ``X`` itself."""
    found: list[Alternative] = []
    for each in objects.alternatives:
        if type(each) is not ObjectOf:
            return NOTHING
        found.append(ClassRef(each.symbol))
    return Value(tuple(found))
