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

_OF_MULTIPLE = frozenset({"target", "spec", "create", "spec_set", "autospec", "new_callable"})
"""What ``patch.multiple`` takes itself."""

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
    of_hooks = isinstance(node.func, ast.Attribute) and (
        "hook" in guards.last_name(node.func.value).lower() and name == "register"
    )
    hooky = bool(kind) or "hook" in name.lower() or name in ("patch", "patch_function") or of_hooks
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
    called = guards.last_name(node.func)
    of_type = called == "__setattr__" and _is_type(node.func)
    if called == "multiple":
        patch_several(walk, node, form)
        return
    if not of_type and called not in ("object", "setattr", "patch_object", "wrap_method"):
        return
    base = _given(walk, node, form, 0, "target")
    named = _argument(node, 1, "attribute")
    if not base or named is None:
        return
    value = _given(walk, node, form, 2, "new")
    for name in string_constants.texts(walk, named):
        if name != "*" and IDENTIFIER.match(name):
            walk.use(UseKind.WRITE, walk.nodes.add(Attr(base, name)), node, value=value)


def patch_several(walk: Walk, node: ast.Call, form: int) -> None:
    """``patch.multiple(Class, name=function)``: each keyword but those of ``multiple`` itself."""
    target = _argument(node, 0, "target")
    if target is None:
        return
    base = _given(walk, node, form, 0, "target")
    texts = string_constants.texts(walk, target)
    if len(texts) == 1 and DOTTED.match(texts[0]):
        base = walk.nodes.add(Dotted(texts[0]))
    if not base:
        return
    for name, value in walk.file.forms[form].keywords.items():
        if name not in _OF_MULTIPLE:
            walk.use(UseKind.WRITE, walk.nodes.add(Attr(base, name)), node, value=value)


def _is_type(func: ast.expr) -> bool:
    """Whether a method is called on ``type`` itself."""
    return isinstance(func, ast.Attribute) and guards.last_name(func.value) == "type"


def _argument(node: ast.Call, position: int, name: str) -> ast.expr | None:
    """An argument of a call, by its position or by its name."""
    if len(node.args) > position:
        return node.args[position]
    return next((each.value for each in node.keywords if each.arg == name), None)


def _given(walk: Walk, node: ast.Call, form: int, position: int, name: str) -> int:
    """The value of an argument of a call, by its position or by its name."""
    record = walk.file.forms[form]
    if len(record.positional) > position:
        return record.positional[position]
    return record.keywords.get(name, UNKNOWN)
