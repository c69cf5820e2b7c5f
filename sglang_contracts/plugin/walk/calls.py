"""Calls: their form, and those that mean more than a call."""

from __future__ import annotations

import ast

from sglang_contracts.plugin.ir.nodes import UNKNOWN, Attr, Call, Foreign, Import
from sglang_contracts.plugin.ir.records import UseKind
from sglang_contracts.plugin.walk import (
    call_arguments,
    containers,
    keys,
    name_membership,
    named_by_variables,
    string_constants,
    string_groups,
    version_comparisons,
)
from sglang_contracts.plugin.walk import call_arguments as arguments
from sglang_contracts.plugin.walk import callbacks as handed
from sglang_contracts.plugin.walk import except_clauses as guards
from sglang_contracts.plugin.walk import hooks_and_patches as patches
from sglang_contracts.plugin.walk.builtin_calls import BUILTIN_CALLS
from sglang_contracts.plugin.walk.scope import DOTTED, LITERALS
from sglang_contracts.plugin.walk.state import Walk

_RECORD_TOOLS = frozenset({"asdict", "astuple", "fields", "replace"})
"""Functions of ``dataclasses``, and of ``msgspec.structs``, that take a record of their kind."""
_HARMLESS_CALLS = frozenset({"getLogger", "get_logger", "setLevel", "init_logger", "entry_points"})


def call_value(walk: Walk, node: ast.Call) -> int:
    """The value of an ``ast.Call``."""
    func = node.func
    name = guards.last_name(func)
    if isinstance(func, ast.Name) and walk.scope.find(func.id) is None:
        if not walk.quiet:  # a note may be silent where ``list(x)`` or ``super()`` stands
            walk.mention(func.id)
        special = BUILTIN_CALLS.get(func.id)
        if special is not None:
            result = special(walk, node)
            if result is not None:
                return int(result)
    if name in _HARMLESS_CALLS:
        for arg in node.args:
            with walk.silently():
                walk.expr(arg)
        return UNKNOWN
    if (
        name
        in (
            "import_module",
            "__import__",
            "resolve_name",
            "import_string",
            "lazy_import",
        )
        or walk.asks_for_module(func)
    ) and node.args:
        return handed.dynamic_import(walk, node, name)
    if name == "partial" and node.args:
        return handed.partial(walk, node)
    if name == "cast" and len(node.args) == 2:
        walk.expr(node.args[1])
        return string_constants.annotation(walk, node.args[0])
    if name == "wraps" or (isinstance(func, ast.Call) and guards.last_name(func.func) == "wraps"):
        for arg in node.args:
            value = walk.expr(arg)
        if isinstance(func, ast.Call):
            walk.expr(func)
            return value if node.args else UNKNOWN
        return UNKNOWN
    version = version_comparisons.version_call(walk, node, name)
    if version:
        return version
    if name in _RECORD_TOOLS:
        record_tool(walk, node)
    same = handed.same_value(walk, node, name)
    if same:
        return same
    result = handed.handed_over(walk, node, name)
    callee = walk.expr(func)
    before = len(walk.file.uses)
    form = call_arguments.form(walk, node)
    listed = name_membership.listed(walk, node)
    if listed:
        return listed
    containers.put_by_call(walk, node, callee, name)
    keys.taken_by_call(walk, node, callee, name)
    if len(node.args) == 1 and type(walk.nodes.table[callee]) is Call:
        with walk.silently():
            given = walk.expr(node.args[0])
        read = handed.read_by_getter(walk, callee, given, node) if given else UNKNOWN
        if read:
            return read
    taken = containers.taken_off(walk, node, name)
    taken = taken or containers.passed_on(walk, node, callee, name)
    if taken:
        return taken
    dotted = [
        each
        for each in node.args
        if isinstance(each, ast.Constant)
        and isinstance(each.value, str)
        and DOTTED.match(each.value)
    ]
    if len(dotted) > 1 and not walk.quiet:
        string_groups.mark_group(walk, node, before)
        string_groups.same_thing(walk, node, dotted)
    if version_comparisons.is_version(walk, callee):
        return walk.nodes.add(Call(callee, form))
    patches.hook(walk, node, UNKNOWN, decorator=False)
    patches.patch_call(walk, node, form)
    if name in ("update", "setdefault") and isinstance(func, ast.Attribute):
        arguments.update_dict(walk, func, node)
    if name == "sort" and isinstance(func, ast.Attribute):
        handed.by_key(walk, node, func.value)
    if name in ("get", "pop", "setdefault") and isinstance(func, ast.Attribute) and node.args:
        with walk.silently():
            by, table = walk.expr(node.args[0]), walk.expr(func.value)
        walk.keyed(node, by, table)
    if name == "pop" and isinstance(func, ast.Attribute) and node.args and not walk.quiet:
        for key in string_constants.texts(walk, node.args[0]):
            arguments.drop_key(walk, guards.last_name(func.value), key)
    if callee == UNKNOWN:
        if isinstance(func, ast.Name) and func.id in LITERALS:
            return walk.nodes.literal(LITERALS[func.id])
        if isinstance(func, ast.Name) and func.id == "object":
            return walk.nodes.literal("object")  # a sentinel
        return result
    callee, form = arguments.completed(walk, callee, form)
    value = walk.nodes.add(Call(callee, form))
    named_by_variables.own_call(walk, node, callee, form)
    if not walk.quiet:
        where = node if not isinstance(func, ast.Attribute) else func
        walk.use(UseKind.CALL, value, where, count=walk.awaiting.get(id(node), 0))
        named = any("_" in each.strip("_") for each in walk.file.forms[form].names)
        if named and isinstance(walk.nodes.table[callee], (Attr, Import)):
            walk.use(UseKind.NEED, value, where, name="places")
        patches.registering(walk, node, callee)
        arguments.optional(walk, node, callee, form)
    return result or value


def record_tool(walk: Walk, node: ast.Call) -> None:
    """A class or an object given to ``dataclasses.asdict`` or to one of its kin.

    The call takes it only where the class is of the kind that the tool is for.
    """
    if not node.args or isinstance(node.args[0], ast.Starred):
        return
    with walk.silently():
        held = walk.nodes.table[walk.expr(node.func)]
        value = name_membership.subject(walk, node.args[0])
    if type(held) is not Foreign or value == UNKNOWN:
        return
    library = held.module.partition(".")[0]
    if library in ("dataclasses", "msgspec"):
        walk.use(UseKind.NEED, value, node, name=f"{library}.{held.name}")
