"""One pass over a module's syntax tree: what flows where, and which uses that makes.

It is a small abstract interpreter over symbolic values (:mod:`sglang_contracts.plugin.ir.records`).
Statements are walked in order; branches are walked apart and joined by a node that keeps the
condition, so that a release decides later which branch it takes. Function bodies are walked when
the module's own names are all known. Nothing is executed and nothing upstream is looked at.
"""

from __future__ import annotations

import ast

from sglang_contracts.plugin.ir.records import UNKNOWN, UseKind
from sglang_contracts.plugin.walk.scope import IDENTIFIER, OwnCall
from sglang_contracts.plugin.walk.statements import Statements


class Flow(Statements):
    """Walks one module; :meth:`run` fills the file's record."""

    def run(self) -> None:
        """Walk the module, then every function body in it."""
        for node in self.everything:
            body = getattr(node, "body", None)
            if isinstance(body, list) and body and isinstance(body[0], ast.Expr):
                value = body[0].value
                if isinstance(value, ast.Constant) and isinstance(value.value, str):
                    self.docs.add(id(value))
        self.block(self.tree.body)
        module_names = dict(self.scope.names)
        while self.pending:
            scope, guard, node, index = self.pending.pop(0)
            self.scope, self.guard, self.loops = scope, guard, []
            self.function_body(node, index)
        for call in self.own_calls:
            self.through(call)
        file = self.file
        file.nodes = self.nodes.table
        file.names = module_names
        everything = set().union(*self.mentioned.values())
        file.mentions = {index: sorted(names) for index, names in self.mentioned.items()}
        file.mentions[-1] = sorted(everything)
        file.tested = sorted(self.tested - {UNKNOWN})
        file.strings = sorted(self.strings)
        file.defines = sorted(self.defined)
        file.foreign = bool(self.frameworks - {"sglang"}) and "sglang" not in self.frameworks

    def through(self, call: OwnCall) -> None:
        """What a helper reads or sets by the name that it is given, at the call that gives it."""
        parameters = self.file.functions[call.function].parameters
        for each in self.by_parameter:
            if each.function != call.function:
                continue
            name = parameters[each.position].name
            base, value = self.given(call, each.base), self.given(call, each.value)
            self.scope.function, self.guard = call.caller, call.guard
            for text in call.texts.get(each.position, call.texts.get(name, ["*"])):
                if not base or text == "*":
                    continue
                if each.kind is UseKind.ITEM:
                    self.use(each.kind, base, call.where, name=text)
                elif IDENTIFIER.match(text):
                    kind = "get" if each.kind is UseKind.PROBE else ""
                    attribute = self.nodes.add("attr", base, text)
                    self.use(each.kind, attribute, call.where, name=kind, value=value)

    def given(self, call: OwnCall, node: int) -> int:
        """A value in a helper; of a parameter, what the call gives."""
        held = self.nodes.table[node]
        if held[0] != "param" or held[1] != call.function:
            return node
        form, position = self.file.forms[call.form], int(held[2])
        if position < len(form.positional):
            return form.positional[position]
        parameter = self.file.functions[call.function].parameters[position]
        return form.keywords.get(parameter.name, UNKNOWN)
