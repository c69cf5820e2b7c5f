"""Types in a release's own text: annotations, and expressions that are evident."""

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
from sglang_contracts.verify.values import builtin_kinds as kinds
from sglang_contracts.verify.values.plugin_index import Links
from sglang_contracts.verify.values.value import (
    NOTHING,
    Alternative,
    Value,
    holding,
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


class Types(Links):
    """What annotations and expressions of a release mean."""

    def typed(self, module: str, text: str) -> tuple[Alternative, ...]:
        """What an annotation written in a module means."""
        tree = kinds.parsed(text)
        return () if tree is None else self._annotation(module, tree).alternatives

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
                    return holding("list", self._annotation(module, arguments[0]))
                if name in MAPPINGS and len(arguments) == 2:
                    return holding("dict", self._annotation(module, arguments[1]))
                if name in ("Tuple", "tuple"):
                    if len(arguments) == 2 and isinstance(arguments[1], ast.Constant):
                        return holding("list", self._annotation(module, arguments[0]))
                    return holding("tuple", *[self._annotation(module, each) for each in arguments])
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
        cut = _CUT.match(text)
        if cut:  # the recorder shortens long texts: what is made is in front
            symbol = self._dotted(module, ast.parse(cut.group(1), mode="eval").body)
            made = symbol is not None and symbol.kind == "class"
            return (("object", symbol, False),) if made else ()
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
                parts = [Value(self._made(module, each, owner, depth + 1)) for each in elements]
                return holding("tuple", *parts).alternatives
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
                    ("object", each[1], None) if each[0] == "object" else each for each in found
                )
            found = tuple(each for each in found if each != ("literal", "None"))
            return Value(found)
        if isinstance(node, Class):
            return Value((("class", symbol),))
        return NOTHING
