# ruff: noqa: N802, N815, D102 - methods are named after the syntax nodes they walk
"""Expressions: the value of each, and the uses in it."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from sglang_contracts.plugin.ir.nodes import Literal
from sglang_contracts.plugin.ir.records import (
    UNKNOWN,
    UseKind,
)
from sglang_contracts.plugin.walk import call_arguments as arguments
from sglang_contracts.plugin.walk import callbacks as handed
from sglang_contracts.plugin.walk import except_clauses as guards
from sglang_contracts.plugin.walk.builtin_calls import asked_for
from sglang_contracts.plugin.walk.calls import Calls
from sglang_contracts.plugin.walk.conditions import ANSWERS
from sglang_contracts.plugin.walk.scope import (
    BUILTINS,
    DOTTED,
    IDENTIFIER,
    Scope,
    WorkedOut,
    dotted_name,
)
from sglang_contracts.plugin.walk.version_comparisons import LONGEST

_ARITHMETIC = (ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Pow, ast.LShift, ast.RShift)
_ORDERS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
_OF_NUMBERS = (ast.Sub, ast.Div, ast.FloorDiv, ast.Pow, ast.LShift, ast.RShift, ast.BitAnd)
"""What a tuple, a list or a mapping takes no part in."""


class Expressions(Calls):
    """What expressions are."""

    def expr(self, node: ast.expr) -> int:
        """The value of an expression; records the uses in it.

        Several rules look at one expression, each by its value: it is worked out once for as long
        as the names in it stand for the same things. A chain of calls would otherwise cost twice
        as much with every link.
        """
        if isinstance(node, ast.Name):
            return self.ex_Name(node)
        if isinstance(node, ast.Constant):
            return self.ex_Constant(node)
        key = (id(node), self.state, self.guard)
        held = self.worked_out.get(key)
        if held is not None and (held.loud or self.quiet):
            return held.value
        value = UNKNOWN
        method = getattr(self, "ex_" + type(node).__name__, None)
        if method is not None:
            value = int(method(node))
        else:
            for child in ast.iter_child_nodes(node):
                if isinstance(child, ast.expr):
                    self.expr(child)
        self.worked_out[key] = WorkedOut(value, not self.quiet, node)
        return value

    def ex_Name(self, node: ast.Name) -> int:
        if not self.quiet:
            self.mention(node.id)
        value = self.scope.find(node.id)
        if value is not None:
            return value
        if node.id in BUILTINS:
            return UNKNOWN
        stars = [module for module in self.file.stars if module.startswith(":")]
        if len(stars) == 1 and len(self.file.stars) == 1:
            found = self.nodes.add("import", stars[0][1:], node.id)
            self.use(UseKind.IMPORT, found, node)
            return found
        return UNKNOWN

    def ex_Constant(self, node: ast.Constant) -> int:
        value = node.value
        if isinstance(value, bool):
            return self.nodes.literal("true" if value else "false")
        if value is None:
            return self.nodes.literal("None")
        if isinstance(value, str):
            if 1 < len(value) <= 80 and not self.quiet:
                self.strings.add(value)
            if DOTTED.match(value) and id(node) not in self.docs:
                self.use(UseKind.DOTTED, self.nodes.add("dotted", value), node)
            return self.nodes.literal("str")
        if isinstance(value, int):
            return self.nodes.literal("int")
        return self.nodes.literal("float") if isinstance(value, float) else UNKNOWN

    def ex_JoinedStr(self, node: ast.JoinedStr) -> int:
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                value = self.expr(part.value)
                if part.conversion in (-1, ord("s")):
                    self.spelled(node, value, "format" if part.conversion < 0 else "text")
        for text in self.texts(node):
            if DOTTED.match(text):
                self.use(UseKind.DOTTED, self.nodes.add("dotted", text), node)
        return self.nodes.literal("str")

    def ex_Attribute(self, node: ast.Attribute) -> int:
        self.mention(node.attr)
        self.used_at_once(node.value)
        listed = self.listed(node)
        if listed:
            return listed
        key = dotted_name(node)
        if key and key in self.scope.narrowed:
            narrowed = self.scope.narrowed[key]
            base = self.expr(node.value)
            if base:
                self.use(UseKind.READ, self.nodes.add("attr", base, node.attr), node)
            return narrowed
        base = self.expr(node.value)
        if base == UNKNOWN:
            name = guards.last_name(node.value)
            if not name or name in BUILTINS or name in ("self", "cls"):
                return UNKNOWN
            base = self.nodes.add("known", name)
        op = self.nodes.op(base)
        if op == "foreign":
            return self.nodes.add("foreign", self.nodes.table[base][1], node.attr)
        if op == "parameters-of":
            return base
        if self.is_version(base):
            return self.nodes.add("attr", base, node.attr)
        if self.version_attribute(base, node.attr):
            return self.nodes.add("version")
        value = self.nodes.add("attr", base, node.attr)
        self.use(UseKind.READ, value, node)
        return value

    def ex_Await(self, node: ast.Await) -> int:
        self.awaiting[id(node.value)] = 1
        return self.expr(node.value)

    def ex_Starred(self, node: ast.Starred) -> int:
        self.expr(node.value)
        return UNKNOWN

    def ex_NamedExpr(self, node: ast.NamedExpr) -> int:
        value = self.expr(node.value)
        self.bind(node.target.id, value)
        return value

    def ex_Subscript(self, node: ast.Subscript) -> int:
        self.used_at_once(node.value)
        base = self.expr(node.value)
        key = self.expr(node.slice)
        self.keyed(node, key, base)
        if base == UNKNOWN:
            return UNKNOWN
        texts = self.texts(node.slice)
        if len(texts) == 1 and isinstance(node.value, ast.Name):
            kept = arguments.known_keys(self, node.value.id).get(texts[0], UNKNOWN)
            if kept and self.decided(kept):
                return kept  # an answer kept in a table of answers
        if texts == ["*"]:
            self.by_parameter_key(node, base)
        if len(texts) > 1 and "*" not in texts:
            self.items(node, base, texts)
        if len(texts) == 1 and texts[0] != "*":
            self.use(UseKind.ITEM, base, node, name=texts[0])
            if self.nodes.table[base] == Literal("sys.modules") and DOTTED.match(texts[0]):
                return self.nodes.add("dotted", texts[0])
            return self.nodes.add("item", base, texts[0])
        if isinstance(node.slice, ast.Slice):
            return self.sliced(base, node.slice)
        if isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, int):
            if isinstance(node.ctx, ast.Load):
                self.needs(node, base, "index")
            return self.nodes.add("unpack", base, int(node.slice.value), -1)
        return self.nodes.add("item", base, None)

    def by_parameter_key(self, node: ast.Subscript, base: int) -> None:
        """``TABLE[name]`` in a helper: which key it is, its calls tell."""
        key = node.slice
        if not isinstance(key, ast.Name) or key.id in self.looked_for():
            return
        if isinstance(node.ctx, ast.Load) and self.nodes.op(base) in ("import", "attr"):
            handed.named_by_parameter(self, key, base, UseKind.ITEM)

    def items(self, node: ast.Subscript, base: int, keys: Sequence[str]) -> None:
        """A table read by each of several keys, those aside that are asked for one by one."""
        for key in keys:
            guard = self.guard
            there = self.nodes.add("registered", base, key)
            if asked_for(self, there):
                guard = self.where(guard, kind="if", condition=there, line=node.lineno)
            with self.under(guard):
                self.use(UseKind.ITEM, base, node, name=key)

    def sliced(self, base: int, cut: ast.Slice) -> int:
        """A part of a sequence, by constant bounds where it matters which."""
        bounds = [
            each.value if isinstance(each, ast.Constant) else None
            for each in (cut.lower, cut.upper)
        ]
        given = [each for each in (cut.lower, cut.upper) if each is not None]
        if cut.step is None and all(
            isinstance(each, ast.Constant) and (each.value is None or type(each.value) is int)
            for each in given
        ):
            return self.nodes.add("slice", base, *bounds)
        return base

    def ex_IfExp(self, node: ast.IfExp) -> int:
        condition = self.condition(node.test)
        self.expr(node.test)
        state = self.state
        if condition:
            yes = self.where(
                self.guard,
                kind="if",
                condition=condition,
                line=node.lineno,
                way_out=not guards.is_flag(node.orelse) or True,
            )
            no = self.where(
                self.guard, kind="if", condition=condition, positive=False, line=node.lineno
            )
            saved = dict(self.scope.names)
            with self.under(yes):
                one = self.expr(node.body)
            self.scope.names, self.state = dict(saved), state
            with self.under(no):
                other = self.expr(node.orelse)
            self.scope.names, self.state = saved, state
            return self.nodes.add("select", condition, one, other)
        saved = dict(self.scope.names)
        narrowed = dict(self.scope.narrowed)
        self.narrow(node.test, True)
        one = self.expr(node.body)
        self.scope.names, self.scope.narrowed = dict(saved), dict(narrowed)
        self.state = state
        self.narrow(node.test, False)
        other = self.expr(node.orelse)
        self.scope.names, self.scope.narrowed, self.state = saved, narrowed, state
        none = self.nodes.literal("None")
        if other == none:
            return one
        return other if one == none else self.both(one, other)

    def ex_BoolOp(self, node: ast.BoolOp) -> int:
        outer, state = self.guard, self.state
        saved, narrowed = dict(self.scope.names), dict(self.scope.narrowed)
        values = []
        positive = isinstance(node.op, ast.And)
        for each in node.values:
            values.append(self.expr(each))
            condition = self.condition(each)
            if condition:
                self.guard = self.where(
                    self.guard,
                    kind="if",
                    condition=condition,
                    positive=positive,
                    line=node.lineno,
                )
            self.narrow(each, positive)
        self.guard = outer
        self.scope.names, self.scope.narrowed, self.state = saved, narrowed, state
        if all(self.answers(value) for value in values):
            return self.condition(node)
        if positive:
            return values[-1]
        none = self.nodes.literal("None")
        kept = [value for value in values if value != none]
        return UNKNOWN if UNKNOWN in kept else self.nodes.union(kept)

    def answers(self, value: int) -> bool:
        """Whether a value is an answer about the release, or a plain yes or no."""
        op, *rest = self.nodes.table[value]
        return op in ANSWERS or (op == "literal" and rest[0] in ("true", "false"))

    def ex_UnaryOp(self, node: ast.UnaryOp) -> int:
        value = self.expr(node.operand)
        if isinstance(node.op, ast.Not):
            condition = self.condition(node)
            return condition or self.nodes.literal("bool")
        return value if value and self.nodes.op(value) == "literal" else UNKNOWN

    def ex_BinOp(self, node: ast.BinOp) -> int:
        values = [self.expr(node.left), self.expr(node.right)]
        if isinstance(node.op, _ARITHMETIC):
            self.needs_number(node, values)
        if isinstance(node.op, _OF_NUMBERS):
            for value in values:
                self.needs(node, value, "arithmetic")
        if isinstance(node.op, ast.Add) and any(self.is_list(each) for each in values):
            for value in values:
                self.needs(node, value, "join")
        return self.nodes.literal("number")

    def is_list(self, value: int) -> bool:
        """Whether a value is evidently a list of the plugin's own: ``[a]``, ``list(x)``."""
        return self.nodes.op(value) == "list" or self.nodes.table[value] == Literal("list")

    def needs_number(self, node: ast.expr, values: Sequence[int]) -> None:
        """Fields that something is done with which a number takes, and nothing does not."""
        for value in values:
            if self.nodes.op(value) == "attr":
                self.use(UseKind.NEED, value, node, name="number")

    def ex_Compare(self, node: ast.Compare) -> int:
        values = [self.expr(each) for each in (node.left, *node.comparators)]
        if all(isinstance(each, _ORDERS) for each in node.ops):
            self.needs_number(node, values)
        if isinstance(node.ops[0], (ast.In, ast.NotIn)):
            self.keyed(node, values[0], values[1])
        condition = self.condition(node)
        if condition:
            self.asked(condition, node)
            return condition
        return self.nodes.literal("bool")

    def asked(self, condition: int, node: ast.Compare) -> None:
        """``"name" in dir(x)`` asks, as ``hasattr`` does."""
        held = self.nodes.table[condition]
        if held[0] == "not":
            held = self.nodes.table[held[1]]
        if held[0] == "has" and isinstance(node.ops[0], (ast.In, ast.NotIn)):
            self.use(UseKind.PROBE, self.nodes.add("attr", *held[1:]), node, name="has")

    def ex_Tuple(self, node: ast.Tuple) -> int:
        self.pairs(node)
        numbers = [each.value for each in node.elts if isinstance(each, ast.Constant)]
        version = len(numbers) == len(node.elts) <= LONGEST
        if version and all(type(each) is int for each in numbers):
            return self.operand(node)
        return self.nodes.add("tuple", *self.elements(node))

    def ex_List(self, node: ast.List) -> int:
        self.pairs(node)
        values = self.elements(node)
        return self.nodes.add("list", UNKNOWN if UNKNOWN in values else self.nodes.union(values))

    ex_Set = ex_List

    def elements(self, node: ast.List | ast.Set | ast.Tuple) -> list[int]:
        """Values of a display; dotted strings in it are alternatives of one group."""
        texts = [
            each
            for each in node.elts
            if isinstance(each, ast.Constant)
            and isinstance(each.value, str)
            and DOTTED.match(each.value)
        ]
        before = len(self.file.uses)
        values = [self.expr(each) for each in node.elts]
        if len(texts) > 1 and not self.quiet:
            self.mark_group(node, before)
            self.same_thing(node, texts)
        return values

    def same_thing(self, node: ast.expr, texts: Sequence[ast.expr]) -> None:
        """Dotted strings that end in one name are one thing in several places: one is enough."""
        last = {
            each.value.replace(":", ".").rsplit(".", 1)[-1]
            for each in texts
            if isinstance(each, ast.Constant) and isinstance(each.value, str)
        }
        group = self.groups.get((node.lineno, node.col_offset))
        if len(last) == 1 and group is not None and group not in self.file.groups:
            self.file.groups.append(group)

    def mark_group(self, node: ast.expr, before: int) -> None:
        """The dotted strings of a display belong together."""
        group = self.groups.setdefault((node.lineno, node.col_offset), len(self.groups) + 1)
        for use in self.file.uses[before:]:
            if use.kind is UseKind.DOTTED:
                use.group = group

    def pairs(self, node: ast.Tuple | ast.List) -> None:
        """``("sglang.srt.x", "name")``: a module and an attribute of it."""
        elements = node.elts
        if len(elements) < 2:
            return
        first, second = elements[0], elements[1]
        if not (isinstance(first, ast.Constant) and isinstance(second, ast.Constant)):
            if all(
                isinstance(each, (ast.Tuple, ast.List)) and len(each.elts) >= 2 for each in elements
            ):
                key = (node.lineno, node.col_offset)
                before = len(self.file.uses)
                self.groups.setdefault(key, len(self.groups) + 1)
                del before
            return
        one, other = first.value, second.value
        if (
            isinstance(one, str)
            and isinstance(other, str)
            and DOTTED.match(one)
            and IDENTIFIER.match(other)
            and not other.startswith("sglang")
        ):
            self.use(UseKind.DOTTED, self.nodes.add("dotted", f"{one}:{other}"), second)

    def ex_Dict(self, node: ast.Dict) -> int:
        values = []
        before = len(self.file.uses)
        keys = 0
        for key, value in zip(node.keys, node.values, strict=True):
            if key is not None:
                self.expr(key)
                texts = self.texts(key)
                if isinstance(value, ast.Dict) and texts and DOTTED.match(texts[0]):
                    keys += 1
                    for inner in value.keys:
                        if (isinstance(inner, ast.Constant) and isinstance(inner.value, str)) and (
                            IDENTIFIER.match(inner.value)
                        ):
                            self.use(
                                UseKind.DOTTED,
                                self.nodes.add("dotted", f"{texts[0]}:{inner.value}"),
                                inner,
                            )
            values.append(self.expr(value))
        del before
        return self.nodes.add("dict", UNKNOWN if UNKNOWN in values else self.nodes.union(values))

    def ex_Lambda(self, node: ast.Lambda) -> int:
        index = self.lambdas.get(id(node))
        if index is None:
            index = self.lambdas[id(node)] = self.signature(node, node.args, "<lambda>", "", "")
        return self.nodes.add("ownfunc", index)

    def comprehension(self, node: ast.expr, results: Sequence[ast.expr]) -> list[int]:
        """Walk a comprehension in a scope of its own."""
        outer = self.scope
        inner = Scope(outer, outer.function, outer.owner)
        inner.narrowed = dict(outer.narrowed)
        self.scope = inner
        guard, state = self.guard, self.state
        self.moved()
        for generator in node.generators:  # type: ignore[attr-defined]
            value = self.expr(generator.iter)
            self.loop_over(generator.target, generator.iter, value)
            for test in generator.ifs:
                self.expr(test)
                condition = self.condition(test)
                if condition:
                    self.guard = self.where(
                        self.guard, kind="if", condition=condition, line=node.lineno
                    )
                self.narrow(test, True)
        values = [self.expr(each) for each in results]
        self.guard, self.state = guard, state
        self.scope = outer
        return values

    def ex_ListComp(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp) -> int:
        numbers = self.numbers(node)
        if numbers:
            return numbers
        value = self.nodes.add("list", self.comprehension(node, [node.elt])[0])
        return self.listed(node) or value

    ex_SetComp = ex_ListComp

    ex_GeneratorExp = ex_ListComp

    def ex_DictComp(self, node: ast.DictComp) -> int:
        return self.nodes.add("dict", self.comprehension(node, [node.key, node.value])[1])

    def ex_Yield(self, node: ast.Yield) -> int:
        value = self.expr(node.value) if node.value is not None else UNKNOWN
        if self.scope.function >= 0:
            record = self.file.functions[self.scope.function]
            record.is_generator = True
            record.yields.append(value)
        return UNKNOWN

    def ex_YieldFrom(self, node: ast.YieldFrom) -> int:
        self.expr(node.value)
        if self.scope.function >= 0:
            self.file.functions[self.scope.function].is_generator = True
        return UNKNOWN
