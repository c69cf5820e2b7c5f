"""Constants and annotations: what their text alone tells."""

from __future__ import annotations

import ast

from sglang_contracts.plugin.ir.nodes import (
    UNKNOWN,
    DictOf,
    Instance,
    ListOf,
    LocalClass,
    Param,
    PluginName,
    Self,
    TupleOf,
)
from sglang_contracts.plugin.walk import except_clauses as guards
from sglang_contracts.plugin.walk.scope import LITERALS
from sglang_contracts.plugin.walk.state import Walk

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
        "Queue",
        "SimpleQueue",
        "LifoQueue",
        "PriorityQueue",
        "JoinableQueue",
        "MutableSet",
        "ContextVar",
        "AbstractSet",
    }
)
_ROWS = 16
"""Rows of a table of names that are each looked at."""
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


def is_display(walk: Walk, node: ast.expr) -> bool:
    """Whether an expression is a constant worth remembering by its name."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str)
    if isinstance(node, (ast.ListComp, ast.SetComp)):
        return len(node.generators) == 1 and len(node.generators[0].ifs) == 1
    return isinstance(node, (ast.Tuple, ast.List, ast.Set, ast.Dict, ast.JoinedStr)) or (
        isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add)
    )


def is_alias(walk: Walk, node: ast.expr) -> bool:
    """Whether an expression is a type: ``Union[A, B]``, ``Optional[A]``, ``List[A]``."""
    if not isinstance(node, ast.Subscript):
        return False
    name = guards.last_name(node.value)
    return name in {"Union", "Tuple", "tuple"} | _ELEMENTS | MAPPINGS | _TRANSPARENT


def display(walk: Walk, node: ast.expr, depth: int = 0) -> ast.expr | None:
    """The display an expression is, or is the name of."""
    if isinstance(node, ast.Name) and depth < 4:
        held = walk.scope.constant(node.id)
        return display(walk, held, depth + 1) if held is not None else None
    if isinstance(node, ast.Attribute) and depth < 4:
        held = member_constant(walk, node)
        return display(walk, held, depth + 1) if held is not None else None
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
        return display(walk, node.args[0], depth + 1)
    return None


def texts(walk: Walk, node: ast.expr, depth: int = 0) -> list[str]:
    """The strings an expression can be: usually one; ``*`` in place of what is unknown."""
    if depth > 5:
        return ["*"]
    match node:
        case ast.Constant(value=str(text)):
            return [text]
        case ast.Name(id=name):
            held = walk.scope.constant(name)
            if held is None:
                return ["*"]
            if getattr(held, "sglang_choice", False):
                found: list[str] = []
                for each in held.elts:  # type: ignore[attr-defined]
                    found += texts(walk, each, depth + 1)
                return list(dict.fromkeys(found))
            return texts(walk, held, depth + 1) if not isinstance(held, ast.Name) else ["*"]
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            ones, others = texts(walk, left, depth + 1), texts(walk, right, depth + 1)
            if "*" in ones or "*" in others or len(ones) * len(others) > 32:
                return ["*"]
            return _named([one + other for one in ones for other in others])
        case ast.JoinedStr(values=values):
            result = [""]
            for part in values:
                inner = part.value if isinstance(part, ast.FormattedValue) else part
                options = texts(walk, inner, depth + 1)
                if "*" in options or len(result) * len(options) > 32:
                    return ["*"]
                result = _named([head + tail for head in result for tail in options])
                if result == ["*"]:
                    return result
            return result
        case ast.IfExp(body=body, orelse=orelse):
            either = texts(walk, body, depth + 1) + texts(walk, orelse, depth + 1)
            return list(dict.fromkeys(either))
        case ast.Attribute(value=ast.Attribute() as member, attr="value"):
            held = member_constant(walk, member)  # of an enumeration of the plugin
            return texts(walk, held, depth + 1) if isinstance(held, ast.Constant) else ["*"]
        case ast.Attribute():
            held = member_constant(walk, node)
            return texts(walk, held, depth + 1) if isinstance(held, ast.Constant) else ["*"]
        case ast.Subscript(value=table, slice=key):
            return table_texts(walk, table, key, depth)
        case _:
            return ["*"]


def member_constant(walk: Walk, node: ast.Attribute) -> ast.expr | None:
    """What ``self.CONST`` or ``Class.CONST`` of a class of this file is, where it is set once."""
    if not any(node.attr == name for _, name in walk.class_constants):
        return None
    with walk.silently():
        held = walk.nodes.table[walk.expr(node.value)]
    if not isinstance(held, (Self, LocalClass)):
        return None
    qual = held.qual
    for _ in range(8):
        found = walk.class_constants.get((qual, node.attr))
        if found is not None:
            written = walk.stored(node.attr) + int((qual, node.attr) in walk.set_on_objects) * -1
            return found if written <= 0 else None
        record = walk.file.classes.get(qual)
        bases = [walk.nodes.table[each] for each in record.bases] if record is not None else []
        own = [each.qual for each in bases if type(each) is LocalClass]
        if record is None or node.attr in record.attributes or len(own) != 1:
            return None
        qual = own[0]
    return None


def table_texts(walk: Walk, table: ast.expr, key: ast.expr, depth: int) -> list[str]:
    """The texts that ``TABLE[key]`` can be: one by a constant key, each by a parameter."""
    shown = display(walk, table)
    if not isinstance(shown, ast.Dict) or isinstance(key, ast.Slice):
        return ["*"]
    chosen = texts(walk, key, depth + 1)
    rows = [
        (one.value, value)
        for one, value in zip(shown.keys, shown.values, strict=True)
        if isinstance(one, ast.Constant)
    ]
    if len(rows) != len(shown.keys) or len(rows) > _ROWS:
        return ["*"]
    if len(chosen) == 1 and chosen[0] != "*":
        values = [value for one, value in rows if one == chosen[0]]
    else:
        with walk.silently():
            given = isinstance(key, ast.Name) and type(walk.nodes.table[walk.expr(key)]) is Param
        values = [value for _, value in rows] if given else []
    found = [text for value in values for text in texts(walk, value, depth + 1)]
    return list(dict.fromkeys(found)) or ["*"]


def annotation(walk: Walk, node: ast.expr) -> int:
    """The value that an annotation says there is."""
    if walk.future:
        with walk.silently():
            return _annotation(walk, node)
    return _annotation(walk, node)


def _annotation(walk: Walk, node: ast.expr) -> int:
    match node:
        case ast.Constant(value=str(text)):
            try:
                inner = ast.parse(text, mode="eval").body
            except (SyntaxError, ValueError):
                return UNKNOWN
            with walk.silently():
                return _annotation(walk, inner)
        case ast.Constant(value=None):
            return walk.nodes.literal("None")
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return _one_of(walk, [_annotation(walk, left), _annotation(walk, right)])
        case ast.Subscript(value=value, slice=inner):
            name = guards.last_name(value)
            arguments = inner.elts if isinstance(inner, ast.Tuple) else [inner]
            if name == "Union":
                return _one_of(walk, [_annotation(walk, each) for each in arguments])
            if name in ("Type", "type"):
                with walk.silently():
                    return walk.expr(arguments[0])
            if name in _TRANSPARENT:
                chosen = arguments[-1] if name == "Coroutine" else arguments[0]
                return _annotation(walk, chosen)
            if name in _ELEMENTS:
                return walk.nodes.add(ListOf(_annotation(walk, arguments[0])))
            if name in MAPPINGS and len(arguments) == 2:
                return walk.nodes.add(DictOf(_annotation(walk, arguments[1])))
            if name in ("Tuple", "tuple"):
                if len(arguments) == 2 and isinstance(arguments[1], ast.Constant):
                    return walk.nodes.add(ListOf(_annotation(walk, arguments[0])))
                return walk.nodes.add(TupleOf(tuple(_annotation(walk, each) for each in arguments)))
            if name in ("Literal", "Callable"):
                return UNKNOWN
            return _annotation(walk, value)
        case ast.Name(id=name) if name in LITERALS and walk.scope.find(name) is None:
            return walk.nodes.literal(LITERALS[name])
        case ast.Name(id=name) if name in walk.aliases:
            return UNKNOWN  # ``Nested = Union[int, List["Nested"]]``
        case ast.Name(id=name) if isinstance(walk.scope.constant(name), ast.Subscript):
            return stands_for(walk, name, walk.scope.constant(name))
        case ast.Name(id=name) if walk.scope.variable(name) is not None:
            return stands_for(walk, name, walk.scope.variable(name))
        case ast.Name(id=name) if name in walk.own_classes and walk.scope.find(name) is None:
            # it is defined further down
            return walk.nodes.add(Instance(walk.nodes.add(PluginName(walk.file.module, name))))
        case ast.Name() | ast.Attribute():
            found = walk.expr(node)
            return walk.nodes.add(Instance(found)) if found else UNKNOWN
        case _:
            return UNKNOWN


def stands_for(walk: Walk, name: str, held: ast.expr | None) -> int:
    """The value that a type by another name, or a type variable, says there is."""
    if held is None or len(walk.aliases) > _ALIASES:
        return UNKNOWN
    if name not in walk.known_aliases:
        walk.aliases.add(name)
        try:
            made = isinstance(held, ast.Call)
            value = type_variable(walk, held) if made else _annotation(walk, held)  # type: ignore[arg-type]
        finally:
            walk.aliases.discard(name)
        walk.known_aliases[name] = value
    value = walk.known_aliases[name]
    if not walk.aliases:
        walk.known_aliases.clear()  # in another statement the name may stand for another type
    return value


def type_variable(walk: Walk, made: ast.Call) -> int:
    """What a ``TypeVar`` stands for at least."""
    bound = next((each.value for each in made.keywords if each.arg == "bound"), None)
    choices = [bound] if bound is not None else made.args[1:]
    with walk.silently():
        return _one_of(walk, [_annotation(walk, each) for each in choices])


def _one_of(walk: Walk, parts: list[int]) -> int:
    none = walk.nodes.literal("None")
    kept = [part for part in parts if part != none]
    if UNKNOWN in kept:
        return UNKNOWN
    return walk.nodes.union(kept)


def _named(texts: list[str]) -> list[str]:
    """The strings, where they may name something: text is made of text, and doubles quickly."""
    return texts if all(len(each) <= _WORDY for each in texts) else ["*"]
