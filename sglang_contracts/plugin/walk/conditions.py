"""Conditions that a release decides, and what they tell of their subject."""

from __future__ import annotations

import ast

from sglang_contracts.plugin.ir.records import UNKNOWN, UseKind
from sglang_contracts.plugin.walk import except_clauses as guards
from sglang_contracts.plugin.walk.scope import LITERALS, Scope, dotted_name
from sglang_contracts.plugin.walk.version_comparisons import Versions

ANSWERS = frozenset(
    {"compare", "has", "takes", "found", "registered", "not", "and", "or", "went", "truth"}
    | {"always", "never"}
)
"""Operations whose value is an answer about the release."""


class Conditions(Versions):
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
            case ast.Compare(left=left, ops=ops, comparators=others):
                sides = [left, *others]
                parts = [
                    self.comparison(one, op, other)
                    for one, op, other in zip(sides, ops, sides[1:], strict=False)
                ]
                return UNKNOWN if UNKNOWN in parts else self.nodes.add("and", *parts)
            case ast.Call(func=ast.Name(id="hasattr"), args=[subject, name]):
                base = self.subject(subject)
                names = self.texts(name)
                if base and names == ["*"]:
                    named = self.expr(name)
                    passed = named and self.nodes.op(named) == "param"
                    return self.nodes.add("has-named", base, named) if passed else UNKNOWN
                if base and names and "*" not in names:
                    found = [self.nodes.add("has", base, each) for each in names]
                    return found[0] if len(found) == 1 else self.nodes.add("or", *found)
                return UNKNOWN
            case ast.Call(
                func=ast.Name(id="all" | "any" as quantifier),
                args=[ast.GeneratorExp(elt=element, generators=[only])],
            ) if not only.ifs:
                return self.for_each(quantifier, element, only)
            case ast.Call(func=ast.Name(id="callable"), args=[subject]):
                return self._condition(subject)
            case ast.Call(func=ast.Name(id="bool"), args=[subject]):
                return self._condition(subject)
            case ast.Call(func=func) if isinstance(func, (ast.Name, ast.Attribute)):
                callee = self.expr(func)
                if callee and (self.is_version(callee) or self.decides(test, callee)):
                    return self.nodes.add("truth", self.nodes.add("call", callee, self.form(test)))
                return UNKNOWN
            case ast.NamedExpr(value=value):
                return self._condition(value)
            case ast.Constant(value=value):
                return self.nodes.add("always") if value else self.nodes.add("never")
            case ast.Name() | ast.Attribute() | ast.Subscript():
                value = self.expr(test)
                if value and self.decided(value):
                    return self.nodes.add("truth", value)
                return UNKNOWN
            case _:
                return UNKNOWN

    def for_each(self, quantifier: str, element: ast.expr, loop: ast.comprehension) -> int:
        """``all(hasattr(x, name) for name in ("a", "b"))``."""
        outer, state = self.scope, self.state
        self.scope = Scope(outer, outer.function, outer.owner)
        self.moved()
        try:
            self.loop_over(loop.target, loop.iter, self.expr(loop.iter))
            found = self._condition(element)
        finally:
            self.scope, self.state = outer, state
        if quantifier == "all" and found and self.nodes.op(found) == "or":
            return self.nodes.add("and", *self.nodes.table[found][1:])
        return found

    def decided(self, node: int, depth: int = 0) -> bool:
        """Whether a release alone decides the truth of a value."""
        op, *rest = self.nodes.table[node]
        if op in {
            "tried",
            "compare",
            "has",
            "has-named",
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
        if op == "call":
            if self.is_version(rest[0]):
                return True
            return self.nodes.op(rest[0]) in ("ownfunc", "own") and (
                self.takes_version(rest[1]) or not self.file.forms[rest[1]].positional
            )
        if op == "attr" and self.nodes.op(rest[0]) == "own":
            return True
        return bool(op == "literal" and rest[0] in ("None", "true", "false"))

    def comparison(self, left: ast.expr, op: ast.cmpop, right: ast.expr) -> int:
        """``version >= "0.5.13"``, ``X is not None``, ``"x" in dir(y)``."""
        if isinstance(op, (ast.In, ast.NotIn)):
            listed = self.member_of(left, right)
            if not listed:
                return self.compare(left, op, right)
            return self.nodes.add("not", listed) if isinstance(op, ast.NotIn) else listed
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
        return self.compare(left, op, right)

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
        self.note_tested(test)
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            self.narrow(test.operand, not positive)
            return
        if isinstance(test, ast.BoolOp):
            if isinstance(test.op, ast.And) == positive:
                for each in test.values:
                    self.narrow(each, positive)
            return
        match test:
            case ast.Compare(
                left=ast.Call(func=ast.Name(id="type"), args=[subject]),
                ops=[ast.Is() | ast.Eq()],
                comparators=[exact],
            ):
                key = dotted_name(subject)
                if key and positive:
                    with self.silently():
                        self.narrowed_to(key, self.instance_of(exact))
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
            if test.func.id == "isinstance":
                value = self.instance_of(classes)
                if not positive:
                    before = self.expr(subject)
                    value = self.nodes.add("without", before, value) if before and value else 0
            elif positive:
                value = self.expr(classes) if not isinstance(classes, ast.Tuple) else UNKNOWN
        if "." in key or key in self.scope.names or positive:
            self.narrowed_to(key, value)

    def note_tested(self, test: ast.expr) -> None:
        """Remember what a test looks at: whether it is true, or ``None``, or of some class."""
        match test:
            case ast.Name() | ast.Attribute() | ast.Subscript():
                subject: ast.expr = test
            case ast.NamedExpr(value=value):
                subject = value
            case ast.Compare(left=left, comparators=[ast.Constant(value=None)]):
                subject = left
            case ast.Call(func=ast.Name(id="isinstance" | "bool" | "len"), args=[first, *_]):
                subject = first
            case ast.Call():
                subject = test
            case _:
                return
        with self.silently():
            asked = self.expr(subject)
        self.tested.add(asked)
        if self.nodes.op(asked) == "call" and not isinstance(test, ast.Compare):
            self.use(UseKind.NEED, asked, test, name="truth")

    def narrowed_to(self, key: str, value: int) -> None:
        """What a test leaves of its subject."""
        self.moved()
        held = self.scope.narrowed if "." in key else self.scope.names
        held[key] = value
