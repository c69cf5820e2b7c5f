# ruff: noqa: N802, N815, D102 - methods are named after the syntax nodes they walk
"""Statements: branches walked apart and joined, loops, attempts."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from sglang_contracts.plugin import guards
from sglang_contracts.plugin.definitions import Definitions
from sglang_contracts.plugin.model import (
    UNKNOWN,
    Attempt,
    Chain,
    UseKind,
)
from sglang_contracts.plugin.scope import BUILTINS, dotted_name


class Statements(Definitions):
    """What statements do."""

    def block(self, body: Sequence[ast.stmt]) -> None:
        """Statements in order; a branch that leaves guards what follows it."""
        outer = self.guard
        before = set(self.scope.names)
        for position, statement in enumerate(body):
            if isinstance(statement, ast.If):
                self.chain(body, position, before)
            self.statement(statement)
        self.guard = outer

    def chain(self, body: Sequence[ast.stmt], position: int, before: set[str]) -> None:
        """Remember the branches that begin at a statement, where the release decides them all."""
        head = body[position]
        assert isinstance(head, ast.If)
        branches, rest = [head], head.orelse
        while len(rest) == 1 and isinstance(rest[0], ast.If):
            branches.append(rest[0])
            rest = rest[0].orelse
        if not rest and len(branches) == 1:
            if position and self.continues(body[position - 1], head):
                return
            for following in body[position + 1 :]:
                if not self.continues(branches[-1], following):
                    break
                assert isinstance(following, ast.If)
                branches.append(following)
        conditions = [self.condition(each.test) for each in branches]
        if not all(conditions) or not any(self.hangs_on_version(each) for each in conditions):
            return
        blocks = [each.body for each in branches]
        names = sorted(set.intersection(*map(guards.binds, blocks)))
        self.file.chains.append(
            Chain(
                head.lineno,
                head.col_offset + 1,
                self.guard,
                conditions,
                [each.lineno for each in branches],
                bool(rest) or any(guards.leaves(each) for each in blocks),
                names,
                all(each in before or self.scope.find(each) is not None for each in names),
            )
        )

    @staticmethod
    def continues(one: ast.stmt, other: ast.stmt) -> bool:
        """Whether two ``if``s without another way bind the same names: they are alternatives."""
        return (
            isinstance(one, ast.If)
            and isinstance(other, ast.If)
            and not one.orelse
            and not other.orelse
            and bool(guards.binds(one.body) & guards.binds(other.body))
        )

    def statement(self, node: ast.stmt) -> None:
        """One statement."""
        method = getattr(self, "do_" + type(node).__name__, None)
        if method is not None:
            method(node)
            return
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                self.expr(child)
            elif isinstance(child, ast.stmt):
                self.statement(child)

    def do_Expr(self, node: ast.Expr) -> None:
        if id(node.value) not in self.docs:
            self.used_at_once(node.value)
            self.expr(node.value)

    def do_Return(self, node: ast.Return) -> None:
        value = self.expr(node.value) if node.value is not None else self.nodes.literal("None")
        if self.scope.function >= 0:
            self.returned(self.scope.function, value)

    def do_Assign(self, node: ast.Assign) -> None:
        if any(isinstance(each, (ast.Tuple, ast.List)) for each in node.targets):
            self.used_at_once(node.value)
        value = self.expr(node.value)
        for target in node.targets:
            self.assign(target, value, node.value)

    def do_AnnAssign(self, node: ast.AnnAssign) -> None:
        note = self.annotation(node.annotation)
        value = self.expr(node.value) if node.value is not None else UNKNOWN
        self.assign(node.target, note or value, node.value)
        if note:
            self.declare(node.target, note)

    def declare(self, target: ast.expr, note: int) -> None:
        """An annotated attribute of an own class is what it is declared to be."""
        if isinstance(target, ast.Attribute):
            with self.silently():
                base = self.nodes.table[self.expr(target.value)]
            if base[0] in ("self", "ownclass") and base[1] in self.file.classes:
                self.file.classes[base[1]].declared.setdefault(target.attr, note)

    def do_AugAssign(self, node: ast.AugAssign) -> None:
        self.expr(node.value)
        with self.silently():
            value = self.expr(node.target)
        if isinstance(node.target, ast.Attribute):
            self.expr(
                ast.copy_location(
                    ast.Attribute(node.target.value, node.target.attr, ast.Load()), node.target
                )
            )
        self.assign(node.target, self.nodes.literal("number") if value else UNKNOWN, None)

    def assign(self, target: ast.expr, value: int, source: ast.expr | None) -> None:
        """Bind a target."""
        match target:
            case ast.Name(id=name):
                self.bind(name, value)
                self.mention(name)
                self.scope.dicts.pop(name, None)
                if source is not None and (self.is_display(source) or self.is_alias(source)):
                    self.scope.constants[name] = source
                if isinstance(source, ast.Call) and guards.last_name(source.func) == "TypeVar":
                    self.scope.variables[name] = source
                keys = self.keys_of(source)
                if keys is not None:
                    self.scope.dicts[name] = keys
                    self.scope.set_under.pop(name, None)
            case ast.Attribute(value=base_expr, attr=attr):
                base = self.expr(base_expr)
                self.mention(attr)
                self.defined.add(attr)
                key = dotted_name(target)
                if key:
                    self.scope.narrowed[key] = value
                if base == UNKNOWN:
                    name = guards.last_name(base_expr)
                    if not name or name in BUILTINS:
                        return
                    base = self.nodes.add("known", name)
                if self.nodes.op(base) in ("self", "ownclass"):
                    self.keep(str(self.nodes.table[base][1]), attr, value, target.lineno)
                self.use(UseKind.WRITE, self.nodes.add("attr", base, attr), target, value=value)
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                self.unpack(elements, value, source, target)
            case ast.Subscript(value=base_expr, slice=key_expr):
                base = self.expr(base_expr)
                self.expr(key_expr)
                if isinstance(base_expr, ast.Name) and base_expr.id in self.scope.dicts:
                    for key in self.texts(key_expr):
                        if key != "*":
                            self.scope.dicts[base_expr.id][key] = value
                            self.set_key(base_expr.id, key)
                if base == UNKNOWN:
                    return
                for key in self.texts(key_expr):
                    if key == "*":
                        continue
                    self.use(UseKind.REGISTER, base, target, name=key, value=value)
            case ast.Starred(value=inner):  # bound in ``unpack``, where its elements are known
                self.assign(inner, value, None)
            case _:
                self.expr(target)

    def unpack(
        self, elements: list[ast.expr], value: int, source: ast.expr | None, where: ast.AST
    ) -> None:
        """Bind several targets at once."""
        if isinstance(source, (ast.Tuple, ast.List)) and len(source.elts) == len(elements):
            with self.silently():
                values = [self.expr(each) for each in source.elts]
            for each, one, text in zip(elements, values, source.elts, strict=True):
                self.assign(each, one, text)
            return
        star = any(isinstance(each, ast.Starred) for each in elements)
        if value != UNKNOWN and self.nodes.op(value) != "tuple":
            least = len(elements) - 1 if star else len(elements)
            self.use(UseKind.UNPACK, value, where, count=-least - 1 if star else least)
        for position, each in enumerate(elements):
            one = UNKNOWN
            if value != UNKNOWN and not star:
                one = self.nodes.add("unpack", value, position, len(elements))
            elif value != UNKNOWN and self.nodes.op(value) != "tuple":
                one = self.nodes.add("iter", value)  # of equal elements, or it is unknown
                if isinstance(each, ast.Starred):
                    one = self.nodes.add("list", one)
            self.assign(each, one, None)

    def do_Delete(self, node: ast.Delete) -> None:
        for target in node.targets:
            if isinstance(target, ast.Name):
                self.scope.names.pop(target.id, None)
            elif isinstance(target, ast.Attribute):
                base = self.expr(target.value)
                if base:
                    self.use(UseKind.READ, self.nodes.add("attr", base, target.attr), target)

    def do_Global(self, node: ast.Global) -> None:
        pass

    def do_For(self, node: ast.For | ast.AsyncFor) -> None:
        value = self.expr(node.iter)
        self.loop_over(node.target, node.iter, value)
        self.group_choice(node)
        self.loops.append(node)
        self.branch(node.body)
        self.loops.pop()
        self.block(node.orelse)

    do_AsyncFor = do_For

    def loop_over(self, target: ast.expr, iterable: ast.expr, value: int) -> None:
        """Bind a loop's target to the elements of what it runs over."""
        element = self.nodes.add("iter", value) if value != UNKNOWN else UNKNOWN
        items = self.display(iterable)
        call = iterable.func if isinstance(iterable, ast.Call) else None
        if isinstance(call, ast.Attribute) and call.attr in {"items", "keys", "values"}:
            mapping = self.display(call.value)
            if isinstance(mapping, ast.Dict):
                keys = [key for key in mapping.keys if key is not None]
                if call.attr == "keys":
                    items = ast.copy_location(ast.Tuple(keys, ast.Load()), mapping)
                elif call.attr == "values":
                    items = ast.copy_location(ast.Tuple(mapping.values, ast.Load()), mapping)
                elif isinstance(target, ast.Tuple) and len(target.elts) == 2:
                    with self.silently():
                        held = self.nodes.union(self.expr(v) for v in mapping.values)
                    self.assign(target.elts[0], self.nodes.literal("str"), None)
                    self.assign(target.elts[1], held, None)
                    self.choices(target.elts[0], keys)
                    self.choices(target.elts[1], mapping.values)
                    return
        if isinstance(items, (ast.Tuple, ast.List, ast.Set)):
            with self.silently():
                element = self.nodes.union(self.expr(each) for each in items.elts)
            self.assign(target, element, None)
            if isinstance(target, ast.Tuple):
                for position, name in enumerate(target.elts):
                    column = [
                        each.elts[position]
                        for each in items.elts
                        if isinstance(each, (ast.Tuple, ast.List)) and len(each.elts) > position
                    ]
                    if len(column) == len(items.elts):
                        with self.silently():
                            one = self.nodes.union(self.expr(each) for each in column)
                        self.assign(name, one, None)
                        self.choices(name, column)
            else:
                self.choices(target, items.elts, items)
            return
        if isinstance(items, ast.Dict):
            self.assign(target, self.nodes.literal("str"), None)
            self.choices(target, [key for key in items.keys if key is not None])
            return
        self.assign(target, element, None)

    def choices(
        self, target: ast.expr, values: Sequence[ast.expr], shown: ast.expr | None = None
    ) -> None:
        """A loop variable that runs over constants."""
        if isinstance(target, ast.Name) and values:
            choice = ast.copy_location(ast.Set(list(values)), values[0])
            choice.sglang_choice = True  # type: ignore[attr-defined]
            choice.sglang_group = self.groups.get(  # type: ignore[attr-defined]
                (shown.lineno, shown.col_offset) if shown is not None else (-1, -1), 0
            )
            self.scope.constants[target.id] = choice

    def group_choice(self, node: ast.For | ast.AsyncFor) -> None:
        """A loop over alternatives that stops at the first one: one of them is enough."""
        display = self.display(node.iter)
        if display is None or not any(
            isinstance(each, (ast.Break, ast.Return)) for each in ast.walk(node)
        ):
            return
        group = self.groups.get((display.lineno, display.col_offset))
        if group is not None and group not in self.file.groups:
            self.file.groups.append(group)

    def branch(self, body: Sequence[ast.stmt]) -> None:
        """A body that may or may not run: what it binds is joined with what was there."""
        before = dict(self.scope.names)
        narrowed = dict(self.scope.narrowed)
        self.block(body)
        after = self.scope.names
        for name, value in before.items():
            other = after.get(name, value)
            if other != value:
                after[name] = self.both(value, other)
        self.scope.narrowed = {k: v for k, v in narrowed.items() if self.scope.narrowed.get(k) == v}

    def both(self, one: int, other: int) -> int:
        """Either of two values; what is unknown in one is unknown."""
        if one == UNKNOWN or other == UNKNOWN:
            return UNKNOWN
        return self.nodes.union((one, other))

    def do_While(self, node: ast.While) -> None:
        condition = self.condition(node.test)
        self.expr(node.test)
        guard = self.guard
        if condition:
            guard = self.where(guard, kind="if", condition=condition, line=node.lineno)
        self.loops.append(node)
        with self.under(guard):
            self.branch(node.body)
        self.loops.pop()
        self.block(node.orelse)

    def do_With(self, node: ast.With | ast.AsyncWith) -> None:
        suppressed: list[str] = []
        for item in node.items:
            value = self.expr(item.context_expr)
            if (
                isinstance(item.context_expr, ast.Call)
                and guards.last_name(item.context_expr.func) == "suppress"
            ):
                for arg in item.context_expr.args:
                    suppressed += guards.caught(arg)
            if item.optional_vars is not None:
                entered = self.nodes.add("enter", value) if value != UNKNOWN else UNKNOWN
                self.assign(item.optional_vars, entered, None)
        if suppressed:
            attempt = self.attempt(Attempt(node.lineno, suppressed))
            guard = self.where(self.guard, kind="try", condition=attempt, line=node.lineno)
            with self.under(guard):
                self.block(node.body)
        else:
            self.block(node.body)

    do_AsyncWith = do_With

    def attempt(self, record: Attempt) -> int:
        """Keep a ``try``; its number."""
        self.file.attempts.append(record)
        return len(self.file.attempts) - 1

    def do_Try(self, node: ast.Try) -> None:
        if not node.handlers:
            self.block(node.body)
            self.block(node.finalbody)
            return
        names: list[str] = []
        relevant = [h for h in node.handlers if self.relevant(h)] or node.handlers
        for handler in node.handlers:
            names += guards.caught(handler.type)
        way_out = any(guards.is_way_out(h.body) for h in relevant)
        index = self.attempt(
            Attempt(
                node.lineno,
                names,
                way_out=way_out or self.later_way_out(node, relevant) or self.tries_next(node),
                raises=all(
                    guards.raises(h.body) and not guards.is_way_out(h.body[:-1]) for h in relevant
                ),
            )
        )
        before = dict(self.scope.names)
        constants = dict(self.scope.constants)
        guard = self.where(self.guard, kind="try", condition=index, line=node.lineno)
        with self.under(guard):
            self.block(node.body)
        went = self.where(
            self.guard, kind="if", condition=self.nodes.add("went", index), line=node.lineno
        )
        with self.under(went):
            self.block(node.orelse)
        after = dict(self.scope.names)
        after_constants = dict(self.scope.constants)
        leaves = all(guards.leaves(h.body) for h in node.handlers)
        outcomes: list[dict[str, int]] = []
        for handler in node.handlers:
            self.scope.names = dict(before)
            self.scope.constants = dict(constants)
            if handler.name:
                self.bind(handler.name, UNKNOWN)
            kind = self.where(self.guard, kind="handler", condition=index, line=handler.lineno)
            with self.under(kind):
                if handler.type is not None:
                    with self.silently():
                        self.expr(handler.type)
                self.block(handler.body)
            if not guards.leaves(handler.body) and handler in relevant:
                outcomes.append(dict(self.scope.names))
        self.scope.constants = after_constants
        joined = dict(after)
        for outcome in outcomes[:1]:
            for name in set(after) | set(outcome):
                one, other = after.get(name, UNKNOWN), outcome.get(name, UNKNOWN)
                if one != other:
                    joined[name] = self.nodes.add("tried", index, one, other)
        self.scope.names = joined
        self.block(node.finalbody)
        if leaves and not guards.leaves(node.body):
            self.guard = went
        elif guards.leaves([*node.body, *node.orelse]) and not leaves:
            # what follows runs only where the attempt failed
            self.guard = self.where(
                self.guard,
                kind="if",
                condition=self.nodes.add("went", index),
                positive=False,
                line=node.lineno,
            )

    do_TryStar = do_Try

    def relevant(self, handler: ast.ExceptHandler) -> bool:
        """Whether a handler catches what a missing name raises."""
        names = set(guards.caught(handler.type))
        return bool(names & (guards.IMPORT_ERRORS | guards.ATTRIBUTE_ERRORS))

    def later_way_out(self, node: ast.Try, handlers: Sequence[ast.ExceptHandler]) -> bool:
        """A handler that passes, where the body returned: what follows is the other way."""
        if not guards.leaves(node.body) and not (
            node.body and isinstance(node.body[-1], (ast.Break, ast.Return))
        ):
            return False
        if not isinstance(node.body[-1], ast.Return):
            return False
        following = self.following(node)
        return bool(following) and guards.is_way_out(following)

    def tries_next(self, node: ast.Try) -> bool:
        """A loop over constants whose body tries one: where it fails, the next is the way out."""
        loop = self.loops[-1] if self.loops else None
        if not isinstance(loop, (ast.For, ast.AsyncFor)) or not isinstance(loop.target, ast.Name):
            return False
        choice = self.scope.constants.get(loop.target.id)
        if choice is None or not getattr(choice, "sglang_choice", False):
            return False
        return len(choice.elts) > 1 and any(  # type: ignore[attr-defined]
            isinstance(part, ast.Name) and part.id == loop.target.id
            for statement in node.body
            for part in ast.walk(statement)
        )

    def following(self, node: ast.stmt) -> list[ast.stmt]:
        """The statements after one in its own block."""
        if not hasattr(self, "_after"):
            self._after: dict[int, list[ast.stmt]] = {}
            for parent in self.everything:
                for field in ("body", "orelse", "finalbody"):
                    block = getattr(parent, field, None)
                    if isinstance(block, list):
                        for position, each in enumerate(block):
                            self._after[id(each)] = block[position + 1 :]
        return self._after.get(id(node), [])

    def do_If(self, node: ast.If) -> None:
        if self.type_checking(node.test):
            guard = self.where(self.guard, kind="typing", line=node.lineno)
            with self.under(guard):
                self.block(node.body)
            after = dict(self.scope.names)
            self.block(node.orelse)
            for name, value in after.items():
                self.scope.names[name] = value or self.scope.names.get(name, UNKNOWN)
            return
        condition = self.condition(node.test)
        self.expr(node.test)
        known = condition != UNKNOWN
        following = self.following(node)
        else_out = (
            guards.is_way_out(node.orelse)
            or guards.raises(node.orelse)
            or guards.leaves_out(node.body, node.orelse or following)
            or (not node.orelse and guards.leaves(node.body) and guards.is_way_out(following))
            or (guards.is_answer(node.body) and guards.is_answer(node.orelse or following))
        )
        body_out = guards.is_way_out(node.body) or guards.raises(node.body)
        positive = negative = self.guard
        if known:
            positive = self.where(
                self.guard, kind="if", condition=condition, way_out=else_out, line=node.lineno
            )
            negative = self.where(
                self.guard,
                kind="if",
                condition=condition,
                positive=False,
                way_out=body_out,
                line=node.lineno,
            )
        before = dict(self.scope.names)
        narrowed_before = dict(self.scope.narrowed)
        constants = dict(self.scope.constants)
        with self.under(positive):
            self.narrow(node.test, True)
            self.block(node.body)
        after, narrowed_after = self.scope.names, self.scope.narrowed
        after_constants = self.scope.constants
        self.scope.names = dict(before)
        self.scope.narrowed = dict(narrowed_before)
        self.scope.constants = dict(constants)
        with self.under(negative):
            self.narrow(node.test, False)
            self.block(node.orelse)
        if guards.leaves(node.body):
            # what follows runs only where the condition did not hold
            if known:
                self.guard = negative
            return
        if node.orelse and guards.leaves(node.orelse):
            self.scope.names, self.scope.narrowed = after, narrowed_after
            self.scope.constants = after_constants
            if known:
                self.guard = positive
            return
        other = self.scope.names
        joined = {}
        for name in set(after) | set(other):
            one, two = after.get(name, UNKNOWN), other.get(name, UNKNOWN)
            if one == two:
                joined[name] = one
            elif known and not (two == UNKNOWN and name not in other and name not in before):
                joined[name] = self.nodes.add("select", condition, one, two)
            else:
                joined[name] = self.both(one, two)
                if name not in other and name not in before:
                    joined[name] = one
        # a parameter narrowed by isinstance is what it was again
        for name, value in before.items():
            if after.get(name) in self.narrow_values(node.test):
                joined[name] = value
        self.scope.names = joined
        self.scope.narrowed = {
            k: v for k, v in self.scope.narrowed.items() if narrowed_after.get(k) == v
        }
        self.scope.constants = {
            k: v for k, v in after_constants.items() if self.scope.constants.get(k) is v
        }

    def narrow_values(self, test: ast.expr) -> set[int]:
        """Nodes that an ``isinstance`` test gives its subject."""
        found: set[int] = set()
        for part in test.values if isinstance(test, ast.BoolOp) else [test]:
            if (
                isinstance(part, ast.Call)
                and isinstance(part.func, ast.Name)
                and part.func.id == "isinstance"
                and len(part.args) == 2
            ):
                with self.silently():
                    found.add(self.instance_of(part.args[1]))
        return found - {UNKNOWN}

    def do_Assert(self, node: ast.Assert) -> None:
        condition = self.condition(node.test)
        self.expr(node.test)
        self.narrow(node.test, True)
        if condition:  # what follows runs only where it holds
            self.guard = self.where(self.guard, kind="if", condition=condition, line=node.lineno)

    def matched(self, pattern: ast.pattern) -> int:
        """A value that has matched a pattern."""
        match pattern:
            case ast.MatchClass(cls=cls):
                with self.silently():
                    return self.instance_of(cls)
            case ast.MatchAs(pattern=ast.pattern() as inner):
                return self.matched(inner)
            case ast.MatchOr(patterns=patterns):
                parts = [self.matched(each) for each in patterns]
                return UNKNOWN if UNKNOWN in parts else self.nodes.union(parts)
        return UNKNOWN

    def do_Match(self, node: ast.Match) -> None:
        self.expr(node.subject)
        before = dict(self.scope.names)
        for case in node.cases:
            self.scope.names = dict(before)
            pattern = case.pattern
            if isinstance(pattern, ast.MatchAs) and pattern.pattern is not None:
                pattern = pattern.pattern
            if isinstance(pattern, ast.MatchClass) and isinstance(node.subject, ast.Name):
                made = self.expr(pattern.cls)
                if made:
                    self.scope.names[node.subject.id] = self.nodes.add("instance", made)
            for part in ast.walk(case.pattern):
                name = getattr(part, "name", None)
                if isinstance(name, str):
                    self.bind(name, UNKNOWN)
                if isinstance(part, ast.MatchValue):
                    self.expr(part.value)
                if isinstance(part, ast.MatchClass):
                    self.expr(part.cls)
            for part in ast.walk(case.pattern):
                if isinstance(part, ast.MatchAs) and part.name and part.pattern is not None:
                    self.bind(part.name, self.matched(part.pattern))
            key = dotted_name(node.subject)
            if key:
                with self.silently():
                    self.narrowed_to(key, self.matched(case.pattern) or self.expr(node.subject))
            if case.guard is not None:
                self.expr(case.guard)
            self.block(case.body)
        self.scope.names = {
            name: value for name, value in before.items() if self.scope.names.get(name) == value
        } | {name: UNKNOWN for name in self.scope.names if name not in before}
