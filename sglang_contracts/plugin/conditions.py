"""Conditions that a release decides, and what they tell of their subject."""

from __future__ import annotations

import ast

from sglang_contracts.plugin import guards
from sglang_contracts.plugin.membership import Membership
from sglang_contracts.plugin.model import (
    UNKNOWN,
)
from sglang_contracts.plugin.scope import LITERALS, dotted_name


class Conditions(Membership):
    """What conditions say."""

    def type_checking(self, test: ast.expr) -> bool:
        """Whether a test is ``TYPE_CHECKING``."""
        return guards.last_name(test) == "TYPE_CHECKING"

    def condition(self, test: ast.expr) -> int:
        """The node of a condition that a release decides; 0 for any other."""
        with self.silently():
            return self._condition(test)

    def _condition(self, test: ast.expr) -> int:
        match test:
            case ast.UnaryOp(op=ast.Not(), operand=inner):
                negated = self._condition(inner)
                return self.nodes.add("not", negated) if negated else UNKNOWN
            case ast.BoolOp(op=op, values=values):
                parts = [self._condition(each) for each in values]
                known = [part for part in parts if part]
                if isinstance(op, ast.And) and known:
                    # what is unknown may be either: only "false" is then certain
                    extra = () if len(known) == len(parts) else (UNKNOWN,)
                    return self.nodes.add("and", *known, *extra)
                if isinstance(op, ast.Or) and known:
                    extra = () if len(known) == len(parts) else (UNKNOWN,)
                    return self.nodes.add("or", *known, *extra)
                return UNKNOWN
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                return self.comparison(left, op, right)
            case ast.Call(func=ast.Name(id="hasattr"), args=[subject, name]):
                base = self.subject(subject)
                names = self.texts(name)
                if base and names and "*" not in names:
                    found = [self.nodes.add("has", base, each) for each in names]
                    return found[0] if len(found) == 1 else UNKNOWN
                return UNKNOWN
            case ast.Call(func=func, args=[]) if isinstance(func, (ast.Name, ast.Attribute)):
                callee = self.expr(func)
                if callee and self.nodes.op(callee) in ("ownfunc", "own", "attr"):
                    return self.nodes.add("truth", self.nodes.add("call", callee, self.form()))
                return UNKNOWN
            case ast.Call(func=ast.Name(id="callable"), args=[subject]):
                return self._condition(subject)
            case ast.NamedExpr(value=value):
                return self._condition(value)
            case ast.Constant(value=value):
                return self.nodes.add("always") if value else self.nodes.add("never")
            case ast.Name() | ast.Attribute():
                value = self.expr(test)
                if value and self.decided(value):
                    return self.nodes.add("truth", value)
                return UNKNOWN
            case _:
                return UNKNOWN

    def decided(self, node: int, depth: int = 0) -> bool:
        """Whether a release alone decides the truth of a value."""
        op, *rest = self.nodes.table[node]
        if op in {
            "tried",
            "version-is",
            "has",
            "not",
            "and",
            "or",
            "went",
            "always",
            "never",
            "truth",
            "own",
            "probe",
            "takes",
            "found",
            "registered",
        }:
            return True
        if op == "attr" and self.nodes.op(rest[0]) in ("self", "ownclass"):
            return True  # what the class keeps there may be an answer that was asked for before
        if op == "select" and depth < 4:
            return True
        return bool(op == "literal" and rest[0] in ("None", "true", "false"))

    def comparison(self, left: ast.expr, op: ast.cmpop, right: ast.expr) -> int:
        """``version >= "0.5.13"``, ``X is not None``, ``"x" in dir(y)``."""
        if isinstance(op, (ast.In, ast.NotIn)):
            listed = self.member_of(left, right)
            return self.nodes.add("not", listed) if listed and isinstance(op, ast.NotIn) else listed
        if isinstance(op, (ast.Is, ast.IsNot)) and isinstance(right, ast.Name):
            return self.sentinel(left, op, right)
        if (
            isinstance(right, ast.Constant)
            and right.value is None
            and isinstance(op, (ast.Is, ast.IsNot, ast.Eq, ast.NotEq))
        ):
            present = self.module_there(left)
            if not present:
                value = self.expr(left)
                if not value or not self.decided(value):
                    return UNKNOWN
                present = self.nodes.add("truth", value)
            return (
                present
                if isinstance(op, (ast.IsNot, ast.NotEq))
                else self.nodes.add("not", present)
            )
        symbols = {
            ast.Lt: "<",
            ast.LtE: "<=",
            ast.Gt: ">",
            ast.GtE: ">=",
            ast.Eq: "==",
            ast.NotEq: "!=",
        }
        symbol = symbols.get(type(op), "")
        if not symbol:
            return UNKNOWN
        swapped = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}
        for one, other, sign in ((left, right, symbol), (right, left, swapped[symbol])):
            value = self.expr(one)
            if value and self.nodes.op(value) == "version":
                constant = self.version_constant(other)
                if constant is not None:
                    form = self.nodes.table[value][1]
                    return self.nodes.add("version-is", sign, form, constant)
        return UNKNOWN

    def sentinel(self, left: ast.expr, op: ast.cmpop, right: ast.expr) -> int:
        """``x is not MISSING``, where ``x`` is ``getattr(y, "name", MISSING)``."""
        value, other = self.expr(left), self.expr(right)
        if not value or not other or self.nodes.op(value) != "probe":
            return UNKNOWN
        _, asked, default = self.nodes.table[value]
        if default != other or self.nodes.op(asked) != "attr":
            return UNKNOWN
        has = self.nodes.add("has", *self.nodes.table[asked][1:])
        return has if isinstance(op, ast.IsNot) else self.nodes.add("not", has)

    def version_constant(self, node: ast.expr) -> str | None:
        """``"0.5.13"``, ``Version("0.5.13")``, ``(0, 5, 13)`` as text."""
        if isinstance(node, ast.Call) and node.args:
            return self.version_constant(node.args[0])
        if isinstance(node, (ast.Tuple, ast.List)):
            numbers = [each.value for each in node.elts if isinstance(each, ast.Constant)]
            if len(numbers) == len(node.elts) and all(isinstance(n, (int, str)) for n in numbers):
                return ".".join(str(n) for n in numbers)
            return None
        if isinstance(node, ast.Attribute):
            inner = self.version_constant(node.value)
            if inner is not None:
                return inner
        texts = self.texts(node)
        return texts[0] if len(texts) == 1 and texts[0] != "*" else None

    def instance_of(self, classes: ast.expr) -> int:
        """The value an ``isinstance`` against these classes leaves."""
        if isinstance(classes, ast.Tuple):
            parts = [self.instance_of(each) for each in classes.elts]
            return UNKNOWN if UNKNOWN in parts else self.nodes.union(parts)
        value = self.expr(classes)
        if value:
            return self.nodes.add("instance", value)
        name = guards.last_name(classes)
        return self.nodes.literal(LITERALS[name]) if name in LITERALS else UNKNOWN

    def narrow(self, test: ast.expr, positive: bool) -> None:
        """What a test tells of its subject inside the branch."""
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            self.narrow(test.operand, not positive)
            return
        if isinstance(test, ast.BoolOp):
            if isinstance(test.op, ast.And) == positive:
                for each in test.values:
                    self.narrow(each, positive)
            return
        if not isinstance(test, ast.Call) or not isinstance(test.func, ast.Name):
            return
        if test.func.id not in ("isinstance", "issubclass") or len(test.args) != 2:
            return
        subject, classes = test.args
        key = dotted_name(subject)
        if not key:
            return
        with self.silently():
            value = UNKNOWN
            if positive and test.func.id == "isinstance":
                value = self.instance_of(classes)
            elif positive:
                value = self.expr(classes) if not isinstance(classes, ast.Tuple) else UNKNOWN
        if "." in key:
            self.scope.narrowed[key] = value
        elif key in self.scope.names or positive:
            self.scope.names[key] = value
