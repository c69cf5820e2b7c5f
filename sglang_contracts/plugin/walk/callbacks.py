"""Functions that something else calls: partials, threads, keys, helpers; modules by their name."""

from __future__ import annotations

import ast

from sglang_contracts.plugin.ir.nodes import (
    UNKNOWN,
    Attr,
    Call,
    Dotted,
    Foreign,
    Found,
    Import,
    Iter,
    ListOf,
    LocalFunction,
    Partial,
    PluginName,
    Text,
    TupleOf,
    Wrapped,
)
from sglang_contracts.plugin.ir.records import UseKind
from sglang_contracts.plugin.walk import (
    call_arguments,
    conditions,
    named_by_variables,
    string_constants,
)
from sglang_contracts.plugin.walk.scope import DOTTED
from sglang_contracts.plugin.walk.state import Walk

_GETTERS = frozenset({"attrgetter", "itemgetter", "methodcaller"})
_SAME = frozenset(
    {"copy", "deepcopy", "replace", "create_task", "ensure_future", "wait_for", "shield"}
)
"""Functions of libraries that give what they are given, or a copy of it."""


def same_value(walk: Walk, node: ast.Call, name: str) -> int:
    """``copy(x)``, ``replace(x, …)``, ``TypeVar("T", bound=X)``: what goes in comes out."""
    if name == "TypeVar":
        for keyword in node.keywords:
            if keyword.arg == "bound":
                with walk.silently():
                    return walk.expr(keyword.value)
    if name == "NewType" and len(node.args) == 2:
        with walk.silently():
            return walk.expr(node.args[1])
    if name in ("MethodType", "__get__") and node.args:
        return bound(walk, node, name)
    if name not in _SAME or not node.args:
        return UNKNOWN
    with walk.silently():
        if type(walk.nodes.table[walk.expr(node.func)]) is not Foreign:
            return UNKNOWN
        value = walk.expr(node.args[0])
    call_arguments.form(walk, node)
    return value


def bound(walk: Walk, node: ast.Call, name: str) -> int:
    """``MethodType(f, x)``, ``f.__get__(x)``: a function with its first parameter given."""
    function = node.args[0]
    if name == "__get__" and isinstance(node.func, ast.Attribute):
        function = node.func.value
    for arg in node.args:
        walk.expr(arg)
    value = walk.expr(function)
    if type(walk.nodes.table[value]) not in (LocalFunction, PluginName):
        return UNKNOWN
    return walk.nodes.add(Wrapped("method", value))


def _keywords(node: ast.expr) -> list[ast.keyword]:
    """What ``kwargs=`` of a thread hands on, as keywords of a call."""
    if isinstance(node, ast.Dict):
        keys = [each.value if isinstance(each, ast.Constant) else None for each in node.keys]
        if all(isinstance(key, str) for key in keys):
            return [
                ast.keyword(str(key), value) for key, value in zip(keys, node.values, strict=True)
            ]
    return [ast.keyword(None, node)]


def handed_over(walk: Walk, node: ast.Call, name: str) -> int:
    """A function of the plugin that something else calls: a thread, an executor, ``map``.

    Returns:
        What an executor gives for its result; :data:`UNKNOWN` for anything else.
    """
    function: ast.expr | None = None
    given: list[ast.expr] = []
    named: list[ast.keyword] = []
    if name in ("Thread", "Process", "Timer"):
        for keyword in node.keywords:
            if keyword.arg == "target":
                function = keyword.value
            elif keyword.arg == "args":
                if isinstance(keyword.value, (ast.Tuple, ast.List)):
                    given = keyword.value.elts
                else:
                    given = [ast.copy_location(ast.Starred(keyword.value), keyword.value)]
            elif keyword.arg == "kwargs":
                named = _keywords(keyword.value)
    elif name in ("submit", "to_thread") and node.args:
        function, given, named = node.args[0], node.args[1:], node.keywords
    elif name == "run_in_executor" and len(node.args) > 1:
        function, given = node.args[1], node.args[2:]
    if function is None or isinstance(function, ast.Lambda):
        return UNKNOWN
    with walk.silently():
        callee = walk.expr(function)
        if not isinstance(walk.nodes.table[callee], (LocalFunction, PluginName, Attr, Import)):
            return UNKNOWN
        form = call_arguments.form(walk, ast.copy_location(ast.Call(function, given, named), node))
    made = walk.nodes.add(Call(callee, form))
    walk.use(UseKind.CALL, made, node)
    if name == "submit":
        return walk.nodes.add(ListOf(made))  # a future hands it out, as a series its elements
    return made if name in ("to_thread", "run_in_executor") else UNKNOWN


def by_key(walk: Walk, node: ast.Call, elements: ast.expr | None) -> None:
    """``key=lambda r: …``: what the function is given are the elements."""
    for keyword in node.keywords:
        walk.expr(keyword.value)
        if keyword.arg == "key" and elements is not None:
            given_elements(walk, keyword.value, elements)


def given_elements(walk: Walk, function: ast.expr, elements: ast.expr) -> None:
    """A lambda, or ``attrgetter("name")``, that is called with each element of something."""
    with walk.silently():
        getter, held = walk.expr(function), walk.expr(elements)
    element = walk.nodes.add(Iter(held)) if held else UNKNOWN
    if held:
        read_by_getter(walk, getter, element, function)
    if not isinstance(function, ast.Lambda) or not function.args.args:
        return
    with walk.silently():
        value = walk.expr(elements)
    for scope, _, node, _ in walk.pending:
        if node is function and value:
            scope.names[function.args.args[0].arg] = walk.nodes.add(Iter(value))


def read_by_getter(walk: Walk, getter: int, value: int, where: ast.AST) -> int:
    """What ``attrgetter("a.b")`` or ``methodcaller("a")`` reads of a value.

    Args:
        walk: The walk at hand.
        getter: The node of what is called.
        value: What it is called with.
        where: The place of the reading.

    Returns:
        What it gives; :data:`UNKNOWN` for any other callable.
    """
    made = walk.nodes.table[getter]
    callee = walk.nodes.table[made.callee] if type(made) is Call else None
    if type(made) is not Call or type(callee) is not Foreign:
        return UNKNOWN
    if callee.module != "operator" or callee.name not in _GETTERS:
        return UNKNOWN
    names = [walk.nodes.table[each] for each in walk.file.forms[made.form].positional]
    found = []
    if callee.name == "itemgetter":
        for text in names:
            if type(text) is Text:
                walk.use(UseKind.ITEM, value, where, name=text.text)
        return UNKNOWN
    for text in names if callee.name == "attrgetter" else names[:1]:
        if type(text) is not Text:
            return UNKNOWN
        read = value
        for name in text.text.split("."):
            walk.mention(name)
            read = walk.nodes.add(Attr(read, name))
            walk.use(UseKind.READ, read, where)
        found.append(read)
    if callee.name == "methodcaller" or not found:
        return UNKNOWN
    return found[0] if len(found) == 1 else walk.nodes.add(TupleOf(tuple(found)))


def dynamic_import(walk: Walk, node: ast.Call, name: str) -> int:
    """``importlib.import_module("sglang…")`` and its kin."""
    chosen = node.args[0]
    if isinstance(chosen, ast.IfExp) and conditions.condition(walk, chosen.test):
        ways = [
            ast.copy_location(ast.Call(node.func, [way, *node.args[1:]], node.keywords), node)
            for way in (chosen.body, chosen.orelse)
        ]
        return walk.expr(ast.copy_location(ast.IfExp(chosen.test, *ways), node))
    for keyword in node.keywords:
        walk.expr(keyword.value)
    asks = walk.asks_for_module(node.func)
    texts = string_constants.texts(walk, node.args[0])
    with walk.silently():
        for arg in node.args:
            walk.expr(arg)
    if "*" in texts:
        walk.file.searches = True
    found = []
    for text in texts:
        if DOTTED.match(text) or text == "sglang":
            value = walk.nodes.add(Dotted(text))
            held = (
                walk.scope.constant(node.args[0].id) if isinstance(node.args[0], ast.Name) else None
            )
            walk.use(
                UseKind.DOTTED,
                value,
                node,
                name="probe" if asks else "import",
                group=getattr(held, "sglang_group", 0),
            )
            found.append(value)
        else:
            found.append(UNKNOWN)
    if UNKNOWN in found:
        return UNKNOWN
    if asks:
        return walk.nodes.add(Found(found[0])) if len(found) == 1 else UNKNOWN
    return walk.nodes.union(found)


def partial(walk: Walk, node: ast.Call) -> int:
    """``functools.partial(f, …)``: part of a call's form."""
    callee = walk.expr(node.args[0])
    rest = ast.copy_location(ast.Call(node.func, node.args[1:], node.keywords), node)
    form = call_arguments.form(walk, rest)
    if not callee:
        return UNKNOWN
    named_by_variables.own_call(walk, rest, callee, form)
    value = walk.nodes.add(Partial(callee, form))
    walk.use(UseKind.CALL, value, node, name="partial")
    return value
