"""Containers that are filled after they were made: which they are, and what is put into them.

``self.waiting = []`` holds what ``self.waiting.append(request)`` puts there, in whatever method. A
container made in an assignment is a node of its own; each place that puts something in is recorded,
and which container it means is told when all files are known.
"""

from __future__ import annotations

import ast

from sglang_contracts.plugin.ir.nodes import (
    UNKNOWN,
    Attr,
    Call,
    DictOf,
    Filled,
    Foreign,
    Instance,
    Item,
    Iter,
    Kept,
    ListOf,
    Literal,
    LocalClass,
    PluginName,
    Self,
    Slice,
    TupleOf,
    Unpack,
)
from sglang_contracts.plugin.ir.records import Put
from sglang_contracts.plugin.walk import except_clauses as guards
from sglang_contracts.plugin.walk.scope import BUILTINS
from sglang_contracts.plugin.walk.state import Walk

_PUTS = {
    "append": 0,
    "appendleft": 0,
    "add": 0,
    "put": 0,
    "put_nowait": 0,
    "set": 0,
    "insert": 1,
    "setdefault": 1,
}
"""Methods that put one of their arguments in → which."""
_EXTENDS = frozenset({"extend", "extendleft", "update", "union_update"})
"""Methods that put all elements of their argument in."""
_ON_HEAPS = frozenset({"heappush", "heappushpop", "heapreplace"})
_OFF_HEAPS = frozenset({"heappop", "heappushpop", "heapreplace"})
_SERIES = frozenset(
    {"list", "set", "deque", "Queue", "LifoQueue", "PriorityQueue", "SimpleQueue", "JoinableQueue"}
    | {"ContextVar"}
)
_MAPPINGS = frozenset(
    {
        "dict",
        "defaultdict",
        "OrderedDict",
        "WeakValueDictionary",
        "LRUCache",
        "TTLCache",
    }
)
_PASSED_ON = frozenset(
    {"chain", "from_iterable", "islice", "cycle", "takewhile", "dropwhile", "filterfalse"}
    | {"groupby", "zip_longest", "product", "tqdm", "gather"}
)
_STEPS = 6
"""Subscripts and calls between a container and what is put into it."""


def filled_names(walk: Walk) -> frozenset[str]:
    """Last names of what the file puts elements into."""
    if walk.filled is None:
        names: set[str] = set()
        other: list[tuple[str, str]] = []
        for node in walk.everything:
            names.add(_receiver(node))
            match node:
                case ast.Assign(
                    targets=[ast.Name(id=name)],
                    value=ast.Name() | ast.Attribute() | ast.Subscript() as held,
                ):
                    other.append((name, _root(held)))
        names.update(held for name, held in other if name in names)
        walk.filled = frozenset(names - {""})
    return walk.filled


def _receiver(node: ast.AST) -> str:
    match node:
        case ast.Attribute(value=value, attr=attr) if attr in _PUTS or attr in _EXTENDS:
            return _root(value)
        case ast.Subscript(value=value, ctx=ast.Store()):
            return _root(value)
        case ast.AugAssign(target=target):
            return _root(target)
        case ast.Call(func=func, args=[first, *_]) if guards.last_name(func) in _ON_HEAPS:
            return _root(first)
    return ""


def _root(node: ast.expr) -> str:
    """The name of the container in ``self.groups[key]``, ``groups.setdefault(key, [])``."""
    while isinstance(node, ast.Subscript) or (
        isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    ):
        node = node.value if isinstance(node, ast.Subscript) else node.func.value  # type: ignore[attr-defined]
    return guards.last_name(node)


def made(walk: Walk, source: ast.expr | None, value: int, name: str) -> int:
    """The container that an assignment makes, where the file fills it; else the value as it is.

    Args:
        walk: The walk at hand.
        source: The expression that is assigned.
        value: Its value.
        name: The last name of what it is assigned to.
    """
    if source is None or name not in filled_names(walk):
        return value
    if type(walk.nodes.table[value]) is Filled:
        return value
    mapping = _is_mapping(walk, source)
    if mapping is None:
        return value
    start = UNKNOWN
    if not is_empty(walk, source):
        held = walk.nodes.table[value]
        if type(held) is ListOf:
            start = held.element
        elif type(held) is DictOf:
            start = held.value
        if start == UNKNOWN:
            return value
    site = walk.sites.setdefault(id(source), len(walk.sites))
    return walk.nodes.add(Filled(site, mapping, start))


def says_elements(walk: Walk, note: int) -> bool:
    """Whether an annotation tells of what elements a container is, or is of something else."""
    held = walk.nodes.table[note]
    if type(held) is ListOf:
        return held.element != UNKNOWN
    if type(held) is DictOf:
        return held.value != UNKNOWN
    if type(held) is Instance:  # ``xs: List = []``
        return type(walk.nodes.table[held.cls]) is not Foreign
    return note != UNKNOWN and type(held) is not Literal


def _is_mapping(walk: Walk, source: ast.expr) -> bool | None:
    """Whether a container of Python's own is a mapping; None for anything else."""
    match source:
        case ast.List() | ast.Set() | ast.ListComp() | ast.SetComp():
            return False
        case ast.Dict() | ast.DictComp():
            return True
        case ast.BinOp(left=ast.List() as left, op=ast.Mult()):
            return False if is_empty(walk, left) else None
        case ast.Call(func=func) if _is_library(walk, func):
            name = guards.last_name(_factory(source) or func)
            return False if name in _SERIES else True if name in _MAPPINGS else None
    return None


def _factory(call: ast.Call) -> ast.expr | None:
    """``list`` in ``field(default_factory=list)``."""
    if guards.last_name(call.func) != "field":
        return None
    return next((each.value for each in call.keywords if each.arg == "default_factory"), None)


def _is_library(walk: Walk, func: ast.expr) -> bool:
    """Whether what is called is Python's own, or of another library."""
    with walk.silently():
        held = walk.nodes.table[walk.expr(func)]
    if type(held) is Foreign:
        return True
    return isinstance(func, ast.Name) and func.id in BUILTINS and walk.scope.find(func.id) is None


def is_empty(walk: Walk, source: ast.expr | None) -> bool:
    """Whether an expression makes a container that holds nothing, or nothing but ``None``."""
    match source:
        case ast.List(elts=elements) | ast.Set(elts=elements) | ast.Dict(values=elements):
            return all(isinstance(each, ast.Constant) and each.value is None for each in elements)
        case ast.BinOp(left=ast.List() as left, op=ast.Mult()):
            return is_empty(walk, left)
        case ast.Call(func=func, args=args):
            name = guards.last_name(_factory(source) or func)
            if name not in _SERIES | _MAPPINGS or not _is_library(walk, func):
                return False
            sized = name.endswith(("Queue", "Cache", "Var")) or name == "defaultdict"
            return sized or not args or is_empty(walk, args[0])
    return False


def put_by_call(walk: Walk, node: ast.Call, callee: int, name: str) -> None:
    """``xs.append(x)``, ``by.setdefault(key, x)``, ``heappush(xs, x)``."""
    if walk.quiet:
        return
    if name in _ON_HEAPS and len(node.args) == 2:
        with walk.silently():
            container = walk.expr(node.args[0])
        _put(walk, container, node.args[1])
        return
    held = walk.nodes.table[callee]
    if type(held) is not Attr or not isinstance(node.func, ast.Attribute):
        return
    position = _PUTS.get(name)
    if position is not None and len(node.args) > position:
        _put(walk, held.base, node.args[position])
    elif name in _EXTENDS:
        for each in node.args:
            _put_all(walk, held.base, each)
        for keyword in node.keywords:
            if keyword.arg is not None:
                _put(walk, held.base, keyword.value)


def put_by_key(walk: Walk, container: int, value: int, source: ast.expr | None) -> None:
    """``by[key] = x``."""
    if walk.quiet or (source is not None and is_empty(walk, source)):
        return
    if leads_to_container(walk, container):
        walk.file.puts.append(Put(container, value))


def _put(walk: Walk, container: int, source: ast.expr) -> None:
    if is_empty(walk, source) or not leads_to_container(walk, container):
        return
    with walk.silently():
        walk.file.puts.append(Put(container, walk.expr(source)))


def _put_all(walk: Walk, container: int, source: ast.expr) -> None:
    if is_empty(walk, source) or not leads_to_container(walk, container):
        return
    with walk.silently():
        value = walk.expr(source)
    mapping = isinstance(source, (ast.Dict, ast.DictComp))
    element = walk.nodes.add(Item(value, None) if mapping else Iter(value)) if value else UNKNOWN
    walk.file.puts.append(Put(container, element))


def put_by_sum(walk: Walk, container: int, source: ast.expr) -> bool:
    """``xs += [x]``: whether what it is added to is a container, and so stays what it is."""
    if type(walk.nodes.table[container]) is not Filled and not leads_to_container(walk, container):
        return False
    if not walk.quiet:
        _put_all(walk, container, source)
    return type(walk.nodes.table[container]) is Filled


def leads_to_container(walk: Walk, node: int, steps: int = 0) -> bool:
    """Whether a value may be a container of the plugin's own, or something held in one."""
    held = walk.nodes.table[node]
    if steps > _STEPS:
        return False
    if isinstance(held, (Filled, PluginName, Kept)):
        return True
    if type(held) is Attr:
        return isinstance(walk.nodes.table[held.base], (Self, LocalClass, PluginName))
    if isinstance(held, (Item, Iter, Unpack, Slice)):
        return leads_to_container(walk, held.base, steps + 1)
    if type(held) is Call:
        callee = walk.nodes.table[held.callee]
        return type(callee) is Attr and leads_to_container(walk, callee.base, steps + 1)
    return False


def passed_on(walk: Walk, node: ast.Call, callee: int, name: str) -> int:
    """What functions of ``itertools`` and ``asyncio`` give of what they are given.

    Returns:
        :data:`UNKNOWN` for any other call.
    """
    if name not in _PASSED_ON or not node.args:
        return UNKNOWN
    if type(walk.nodes.table[callee]) is not Foreign:
        return UNKNOWN
    with walk.silently():
        values = [walk.expr(each) for each in node.args]
    if UNKNOWN in values[:1] or any(isinstance(each, ast.Starred) for each in node.args):
        return UNKNOWN
    if name == "gather":
        return walk.nodes.add(TupleOf(tuple(values)))
    elements = [walk.nodes.add(Iter(value)) if value else UNKNOWN for value in values]
    if name == "groupby":
        group = walk.nodes.add(ListOf(elements[0]))
        return walk.nodes.add(ListOf(walk.nodes.add(TupleOf((UNKNOWN, group)))))
    if name == "from_iterable":
        return walk.nodes.add(ListOf(walk.nodes.add(Iter(elements[0]))))
    if name in ("chain", "zip_longest", "product"):
        if name != "chain":
            return walk.nodes.add(ListOf(walk.nodes.add(TupleOf(tuple(elements)))))
        return walk.nodes.add(
            ListOf(UNKNOWN if UNKNOWN in elements else walk.nodes.union(elements))
        )
    position = int(name in ("takewhile", "dropwhile", "filterfalse"))
    return walk.nodes.add(ListOf(elements[position])) if len(elements) > position else UNKNOWN


def taken_off(walk: Walk, node: ast.Call, name: str) -> int:
    """``heappop(xs)``: an element; :data:`UNKNOWN` for any other call."""
    if name not in _OFF_HEAPS or not node.args:
        return UNKNOWN
    with walk.silently():
        container = walk.expr(node.args[0])
    return walk.nodes.add(Iter(container)) if container else UNKNOWN


def joined(walk: Walk, node: ast.BinOp, values: list[int]) -> int:
    """``xs + ys``: a list of the elements of both; what is empty adds nothing."""
    parts = []
    for source, value in zip((node.left, node.right), values, strict=True):
        if is_empty(walk, source):
            continue
        parts.append(walk.nodes.add(Iter(value)) if value else UNKNOWN)
    return walk.nodes.add(ListOf(UNKNOWN if UNKNOWN in parts else walk.nodes.union(parts)))


def shown(walk: Walk, value: int) -> int:
    """What a container was made with, as a display of it would be."""
    held = walk.nodes.table[value]
    if type(held) is not Filled:
        return value
    return walk.nodes.add(DictOf(held.start) if held.mapping else ListOf(held.start))


def kept(walk: Walk, name: str, value: int) -> int:
    """A name of the module that is ``None`` until some other function binds it."""
    holder = walk.scope.holder(name)
    outside = holder is not None and holder.parent is None and walk.scope.function >= 0
    if not outside or name in walk.scope.globals:
        return value
    if walk.nodes.table[value] not in (Literal("None"), ListOf(UNKNOWN), DictOf(UNKNOWN)):
        return value
    return walk.nodes.add(Kept(name))
