"""Calls that put a function of the plugin in place of one of the release: hooks, patches."""

from __future__ import annotations

import ast

from sglang_contracts.plugin.ir.nodes import (
    UNKNOWN,
    Attr,
    Call,
    Dotted,
    Import,
    LocalClass,
    LocalFunction,
    Partial,
    PluginName,
    Select,
    Tried,
    Wrapped,
)
from sglang_contracts.plugin.ir.records import UseKind
from sglang_contracts.plugin.walk import except_clauses as guards
from sglang_contracts.plugin.walk import string_constants
from sglang_contracts.plugin.walk.scope import DOTTED, IDENTIFIER
from sglang_contracts.plugin.walk.state import Walk

_HOOK_KINDS = frozenset({"replace", "around", "before", "after"})

_CALLABLE = frozenset(
    {LocalFunction, LocalClass, PluginName, Call, Partial, Attr, Wrapped, Import, Tried, Select}
)
"""Operations that may give a function or class of the plugin."""


def registering(walk: Walk, node: ast.Call, callee: int) -> None:
    """A call whose first argument is a constant key may register it."""
    if node.args:
        for text in string_constants.texts(walk, node.args[0])[:8]:
            if text != "*" and len(text) < 60 and not DOTTED.match(text):
                walk.use(UseKind.REGISTER, callee, node, name=text)


def hook(walk: Walk, node: ast.Call, own: int, decorator: bool) -> bool:
    """A call that ties a function to a dotted target: hook registration, ``mock.patch``."""
    targets: list[str] = []
    for arg in [*node.args[:1], *[k.value for k in node.keywords if k.arg == "target"]]:
        with walk.silently():
            targets += [text for text in string_constants.texts(walk, arg) if DOTTED.match(text)]
    if not targets:
        return False
    name = guards.last_name(node.func)
    with walk.silently():
        others = [walk.expr(arg) for arg in node.args[1:]]
        others += [walk.expr(k.value) for k in node.keywords if k.arg != "target"]
    kind = ""
    for arg in [*node.args[1:], *[k.value for k in node.keywords]]:
        last = guards.last_name(arg).lower()
        text = (
            arg.value.lower()
            if isinstance(arg, ast.Constant) and isinstance(arg.value, str)
            else last
        )
        if text in _HOOK_KINDS:
            kind = text
    functions = [value for value in others if value and callable_value(walk, value)]
    if decorator:
        functions = [own] if own else []
    hooky = bool(kind) or "hook" in name.lower() or name in ("patch", "patch_function")
    if not hooky and not (functions and ("register" in name or "patch" in name)):
        return False
    if not kind and name in ("patch", "patch_function"):
        kind = "replace"
    if not kind and ("hook" in name.lower() or name == "register"):
        kind = "after"
    sets = int(name == "patch")
    for target in targets:
        value = walk.nodes.add(Dotted(target))
        where: ast.AST = node.args[0] if node.args else node
        if not functions:
            walk.use(UseKind.HOOK, value, where, name=kind, count=sets)
        for function in functions[:1]:
            walk.use(UseKind.HOOK, value, where, name=kind, value=function, count=sets)
            if not walk.quiet:
                walk.file.bindings.append((function, value, kind))
    return True


def callable_value(walk: Walk, value: int) -> bool:
    """Whether a value may be a function or class of the plugin."""
    return type(walk.nodes.table[value]) in _CALLABLE


def patch_call(walk: Walk, node: ast.Call, form: int) -> None:
    """``patch.object(Class, "name", function)`` and the like."""
    if guards.last_name(node.func) not in ("object", "setattr", "patch_object", "wrap_method"):
        return
    record = walk.file.forms[form]
    if len(node.args) < 2 or len(record.positional) < 2 or not record.positional[0]:
        return
    for name in string_constants.texts(walk, node.args[1]):
        if name == "*" or not IDENTIFIER.match(name):
            continue
        value = record.positional[2] if len(record.positional) > 2 else UNKNOWN
        target = walk.nodes.add(Attr(record.positional[0], name))
        walk.use(UseKind.WRITE, target, node, value=value)
