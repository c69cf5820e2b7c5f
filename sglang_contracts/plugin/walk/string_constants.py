"""Constants and annotations: what their text alone tells."""

from __future__ import annotations

import ast

from sglang_contracts.plugin.ir.records import (
    UNKNOWN,
)
from sglang_contracts.plugin.walk import except_clauses as guards
from sglang_contracts.plugin.walk.scope import LITERALS, Core

_ELEMENTS = frozenset(
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
        "Collection",
        "MutableSequence",
        "AsyncIterator",
        "AsyncIterable",
        "Generator",
        "AsyncGenerator",
        "KeysView",
        "ValuesView",
    }
)
_ALIASES = 40
"""Types that one is written by way of: more are as good as unknown."""
_WORDY = 1000
"""Characters of a string that names something; a longer one does not."""
MAPPINGS = frozenset(
    {"Dict", "dict", "Mapping", "MutableMapping", "DefaultDict", "defaultdict", "OrderedDict"}
)
_TRANSPARENT = frozenset(
    {
        "Optional",
        "ClassVar",
        "Final",
        "Annotated",
        "Awaitable",
        "Coroutine",
        "Required",
        "NotRequired",
        "ReadOnly",
        "InitVar",
        "ContextManager",
        "AsyncContextManager",
        "ref",
    }
)


class Texts(Core):
    """What constants and annotations say."""

    def is_display(self, node: ast.expr) -> bool:
        """Whether an expression is a constant worth remembering by its name."""
        if isinstance(node, ast.Constant):
            return isinstance(node.value, str)
        return isinstance(node, (ast.Tuple, ast.List, ast.Set, ast.Dict, ast.JoinedStr)) or (
            isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add)
        )

    def is_alias(self, node: ast.expr) -> bool:
        """Whether an expression is a type: ``Union[A, B]``, ``Optional[A]``, ``List[A]``."""
        if not isinstance(node, ast.Subscript):
            return False
        name = guards.last_name(node.value)
        return name in {"Union", "Tuple", "tuple"} | _ELEMENTS | MAPPINGS | _TRANSPARENT

    def display(self, node: ast.expr, depth: int = 0) -> ast.expr | None:
        """The display an expression is, or is the name of."""
        if isinstance(node, ast.Name) and depth < 4:
            held = self.scope.constant(node.id)
            return self.display(held, depth + 1) if held is not None else None
        if isinstance(node, (ast.Tuple, ast.List, ast.Set, ast.Dict)):
            return node
        if (
            isinstance(node, ast.Call)
            and len(node.args) == 1
            and guards.last_name(node.func)
            in {
                "list",
                "tuple",
                "set",
                "frozenset",
                "sorted",
                "reversed",
                "enumerate",
            }
            and guards.last_name(node.func) != "enumerate"
        ):
            return self.display(node.args[0], depth + 1)
        return None

    def texts(self, node: ast.expr, depth: int = 0) -> list[str]:
        """The strings an expression can be: usually one; ``*`` in place of what is unknown."""
        if depth > 5:
            return ["*"]
        match node:
            case ast.Constant(value=str(text)):
                return [text]
            case ast.Name(id=name):
                held = self.scope.constant(name)
                if held is None:
                    return ["*"]
                if getattr(held, "sglang_choice", False):
                    found: list[str] = []
                    for each in held.elts:  # type: ignore[attr-defined]
                        found += self.texts(each, depth + 1)
                    return list(dict.fromkeys(found))
                return self.texts(held, depth + 1) if not isinstance(held, ast.Name) else ["*"]
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                ones, others = self.texts(left, depth + 1), self.texts(right, depth + 1)
                if "*" in ones or "*" in others or len(ones) * len(others) > 32:
                    return ["*"]
                return _named([one + other for one in ones for other in others])
            case ast.JoinedStr(values=values):
                result = [""]
                for part in values:
                    inner = part.value if isinstance(part, ast.FormattedValue) else part
                    options = self.texts(inner, depth + 1)
                    if "*" in options or len(result) * len(options) > 32:
                        return ["*"]
                    result = _named([head + tail for head in result for tail in options])
                    if result == ["*"]:
                        return result
                return result
            case ast.IfExp(body=body, orelse=orelse):
                either = self.texts(body, depth + 1) + self.texts(orelse, depth + 1)
                return list(dict.fromkeys(either))
            case _:
                return ["*"]

    def annotation(self, node: ast.expr) -> int:
        """The value that an annotation says there is."""
        if self.future:
            with self.silently():
                return self._annotation(node)
        return self._annotation(node)

    def _annotation(self, node: ast.expr) -> int:
        match node:
            case ast.Constant(value=str(text)):
                try:
                    inner = ast.parse(text, mode="eval").body
                except (SyntaxError, ValueError):
                    return UNKNOWN
                with self.silently():
                    return self._annotation(inner)
            case ast.Constant(value=None):
                return self.nodes.literal("None")
            case ast.BinOp(left=left, op=ast.BitOr(), right=right):
                return self._one_of([self._annotation(left), self._annotation(right)])
            case ast.Subscript(value=value, slice=inner):
                name = guards.last_name(value)
                arguments = inner.elts if isinstance(inner, ast.Tuple) else [inner]
                if name == "Union":
                    return self._one_of([self._annotation(each) for each in arguments])
                if name in ("Type", "type"):
                    with self.silently():
                        return self.expr(arguments[0])
                if name in _TRANSPARENT:
                    chosen = arguments[-1] if name == "Coroutine" else arguments[0]
                    return self._annotation(chosen)
                if name in _ELEMENTS:
                    return self.nodes.add("list", self._annotation(arguments[0]))
                if name in MAPPINGS and len(arguments) == 2:
                    return self.nodes.add("dict", self._annotation(arguments[1]))
                if name in ("Tuple", "tuple"):
                    if len(arguments) == 2 and isinstance(arguments[1], ast.Constant):
                        return self.nodes.add("list", self._annotation(arguments[0]))
                    return self.nodes.add("tuple", *[self._annotation(each) for each in arguments])
                if name in ("Literal", "Callable"):
                    return UNKNOWN
                return self._annotation(value)
            case ast.Name(id=name) if name in LITERALS and self.scope.find(name) is None:
                return self.nodes.literal(LITERALS[name])
            case ast.Name(id=name) if name in self.aliases:
                return UNKNOWN  # ``Nested = Union[int, List["Nested"]]``
            case ast.Name(id=name) if isinstance(self.scope.constant(name), ast.Subscript):
                return self.stands_for(name, self.scope.constant(name))
            case ast.Name(id=name) if self.scope.variable(name) is not None:
                return self.stands_for(name, self.scope.variable(name))
            case ast.Name() | ast.Attribute():
                found = self.expr(node)
                return self.nodes.add("instance", found) if found else UNKNOWN
            case _:
                return UNKNOWN

    def stands_for(self, name: str, held: ast.expr | None) -> int:
        """The value that a type by another name, or a type variable, says there is."""
        if held is None or len(self.aliases) > _ALIASES:
            return UNKNOWN
        if name not in self.known_aliases:
            self.aliases.add(name)
            try:
                made = isinstance(held, ast.Call)
                value = self.type_variable(held) if made else self._annotation(held)  # type: ignore[arg-type]
            finally:
                self.aliases.discard(name)
            self.known_aliases[name] = value
        value = self.known_aliases[name]
        if not self.aliases:
            self.known_aliases.clear()  # in another statement the name may stand for another type
        return value

    def type_variable(self, made: ast.Call) -> int:
        """What a ``TypeVar`` stands for at least."""
        bound = next((each.value for each in made.keywords if each.arg == "bound"), None)
        choices = [bound] if bound is not None else made.args[1:]
        with self.silently():
            return self._one_of([self._annotation(each) for each in choices])

    def _one_of(self, parts: list[int]) -> int:
        none = self.nodes.literal("None")
        kept = [part for part in parts if part != none]
        if UNKNOWN in kept:
            return UNKNOWN
        return self.nodes.union(kept)


def _named(texts: list[str]) -> list[str]:
    """The strings, where they may name something: text is made of text, and doubles quickly."""
    return texts if all(len(each) <= _WORDY for each in texts) else ["*"]
