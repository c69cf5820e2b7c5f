# ruff: noqa: N802, D102 - methods are named after the syntax nodes they walk
"""Calls: their form, and those that mean more than a call."""

from __future__ import annotations

import ast

from sglang_contracts.plugin.ir.records import UNKNOWN, UseKind
from sglang_contracts.plugin.walk import call_arguments as arguments
from sglang_contracts.plugin.walk import callbacks as handed
from sglang_contracts.plugin.walk import except_clauses as guards
from sglang_contracts.plugin.walk import hooks_and_patches as patches
from sglang_contracts.plugin.walk.builtin_calls import BUILTIN_CALLS
from sglang_contracts.plugin.walk.conditions import Conditions
from sglang_contracts.plugin.walk.scope import DOTTED, LITERALS

_HARMLESS_CALLS = frozenset({"getLogger", "get_logger", "setLevel", "init_logger", "entry_points"})


class Calls(Conditions):
    """What calls do."""

    def form(self, node: ast.Call | None = None) -> int:
        """The form of a call, as an index; arguments are walked."""
        return arguments.form(self, node)

    def ex_Call(self, node: ast.Call) -> int:
        func = node.func
        name = guards.last_name(func)
        if isinstance(func, ast.Name) and self.scope.find(func.id) is None:
            if not self.quiet:  # a note may be silent where ``list(x)`` or ``super()`` stands
                self.mention(func.id)
            special = BUILTIN_CALLS.get(func.id)
            if special is not None:
                result = special(self, node)
                if result is not None:
                    return int(result)
        if name in _HARMLESS_CALLS:
            for arg in node.args:
                with self.silently():
                    self.expr(arg)
            return UNKNOWN
        if (
            name
            in (
                "import_module",
                "__import__",
                "resolve_name",
                "import_string",
                "lazy_import",
                "find_spec",
            )
            and node.args
        ):
            return handed.dynamic_import(self, node, name)
        if name == "partial" and node.args:
            return handed.partial(self, node)
        if name == "cast" and len(node.args) == 2:
            self.expr(node.args[1])
            return self.annotation(node.args[0])
        if name == "wraps" or (
            isinstance(func, ast.Call) and guards.last_name(func.func) == "wraps"
        ):
            for arg in node.args:
                value = self.expr(arg)
            if isinstance(func, ast.Call):
                self.expr(func)
                return value if node.args else UNKNOWN
            return UNKNOWN
        version = self.version_call(node, name)
        if version:
            return version
        same = handed.same_value(self, node, name)
        if same:
            return same
        handed.handed_over(self, node, name)
        callee = self.expr(func)
        before = len(self.file.uses)
        form = self.form(node)
        listed = self.listed(node)
        if listed:
            return listed
        dotted = [
            each
            for each in node.args
            if isinstance(each, ast.Constant)
            and isinstance(each.value, str)
            and DOTTED.match(each.value)
        ]
        if len(dotted) > 1 and not self.quiet:
            self.mark_group(node, before)
            self.same_thing(node, dotted)
        if self.is_version(callee):
            return self.nodes.add("call", callee, form)
        patches.hook(self, node, UNKNOWN, decorator=False)
        patches.patch_call(self, node, form)
        if name in ("update",) and isinstance(func, ast.Attribute):
            arguments.update_dict(self, func, node)
        if name == "sort" and isinstance(func, ast.Attribute):
            handed.by_key(self, node, func.value)
        if name in ("get", "pop", "setdefault") and isinstance(func, ast.Attribute) and node.args:
            with self.silently():
                by, table = self.expr(node.args[0]), self.expr(func.value)
            self.keyed(node, by, table)
        if name == "pop" and isinstance(func, ast.Attribute) and node.args and not self.quiet:
            for key in self.texts(node.args[0]):
                arguments.drop_key(self, guards.last_name(func.value), key)
        if callee == UNKNOWN:
            if isinstance(func, ast.Name) and func.id in LITERALS:
                return self.nodes.literal(LITERALS[func.id])
            if isinstance(func, ast.Name) and func.id == "object":
                return self.nodes.literal("object")  # a sentinel
            return UNKNOWN
        callee, form = arguments.completed(self, callee, form)
        value = self.nodes.add("call", callee, form)
        handed.own_call(self, node, callee, form)
        if not self.quiet:
            where = node if not isinstance(func, ast.Attribute) else func
            self.use(UseKind.CALL, value, where, count=self.awaiting.get(id(node), 0))
            named = any("_" in each.strip("_") for each in self.file.forms[form].names)
            if named and self.nodes.op(callee) in ("attr", "import"):
                self.use(UseKind.NEED, value, where, name="places")
            patches.registering(self, node, callee)
            arguments.optional(self, node, callee, form)
        return value
