"""``if``, ``assert`` and ``match``: branches walked apart and joined."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from sglang_contracts.plugin.ir.nodes import (
    UNKNOWN,
    And,
    Attr,
    Has,
    Instance,
    Literal,
    Not,
    Or,
    Registered,
    Select,
)
from sglang_contracts.plugin.ir.records import Chain, UseKind
from sglang_contracts.plugin.walk import conditions, version_comparisons
from sglang_contracts.plugin.walk import except_clauses as guards
from sglang_contracts.plugin.walk.scope import dotted_name
from sglang_contracts.plugin.walk.state import Walk


def chain(walk: Walk, body: Sequence[ast.stmt], position: int, before: set[str]) -> None:
    """Remember the branches that begin at a statement, where the release decides them all.

    What was looked at as part of a longer chain is not looked at again as one of its own: a tail of
    it says what the whole says.
    """
    head = body[position]
    assert isinstance(head, ast.If)
    if id(head) in walk.chained:
        return
    branches, rest = [head], head.orelse
    while len(rest) == 1 and isinstance(rest[0], ast.If):
        branches.append(rest[0])
        rest = rest[0].orelse
    if not rest and len(branches) == 1:
        if position and continues(body[position - 1], head):
            return
        for following in body[position + 1 :]:
            if not continues(branches[-1], following):
                break
            assert isinstance(following, ast.If)
            branches.append(following)
    tests = []
    for each in branches:
        walk.chained.add(id(each))
        tests.append(conditions.condition(walk, each.test))
        if tests[-1] == UNKNOWN:
            return
    if not any(version_comparisons.hangs_on_version(walk, each) for each in tests):
        return
    blocks = [each.body for each in branches]
    names = sorted(set.intersection(*map(guards.binds, blocks)))
    walk.file.chains.append(
        Chain(
            head.lineno,
            head.col_offset + 1,
            walk.guard,
            tests,
            [each.lineno for each in branches],
            bool(rest) or any(guards.leaves(each) for each in blocks),
            names,
            all(each in before or walk.scope.find(each) is not None for each in names),
        )
    )


def continues(one: ast.stmt, other: ast.stmt) -> bool:
    """Whether two ``if``s without another way bind the same names: they are alternatives."""
    return (
        isinstance(one, ast.If)
        and isinstance(other, ast.If)
        and not one.orelse
        and not other.orelse
        and bool(guards.binds(one.body) & guards.binds(other.body))
    )


def walk_if(walk: Walk, node: ast.If) -> None:
    """Both branches, each under its condition; what they bind is joined."""
    place, walk.place = walk.place, None
    if place is not None:
        chain(walk, place.body, place.position, place.before)
    if conditions.type_checking(walk, node.test):
        guard = walk.where(walk.guard, kind="typing", line=node.lineno)
        with walk.under(guard):
            walk.block(node.body)
        after = dict(walk.scope.names)
        walk.block(node.orelse)
        for name, value in after.items():
            walk.scope.names[name] = value or walk.scope.names.get(name, UNKNOWN)
        return
    condition = conditions.condition(walk, node.test)
    walk.expr(node.test)
    known = condition != UNKNOWN
    following = walk.following(node)
    else_out = (
        guards.is_way_out(node.orelse)
        or guards.raises(node.orelse)
        or guards.leaves_out(node.body, node.orelse or following)
        or (guards.fills(node.body) and not node.orelse)
        or (not node.orelse and guards.leaves(node.body) and guards.is_way_out(following))
        or (guards.is_answer(node.body) and guards.is_answer(node.orelse or following))
    )
    body_out = guards.is_way_out(node.body) or guards.raises(node.body)
    positive = negative = walk.guard
    if known:
        positive = walk.where(
            walk.guard,
            kind="if",
            condition=condition,
            way_out=else_out,
            line=node.lineno,
            refuses=guards.raises(node.orelse) and not guards.is_way_out(node.orelse[:-1]),
        )
        negative = walk.where(
            walk.guard,
            kind="if",
            condition=condition,
            positive=False,
            way_out=body_out,
            line=node.lineno,
            refuses=guards.raises(node.body) and not guards.is_way_out(node.body[:-1]),
        )
    before = dict(walk.scope.names)
    narrowed_before = dict(walk.scope.narrowed)
    constants = dict(walk.scope.constants)
    with walk.under(positive), walk.maybe(not known):
        conditions.narrow(walk, node.test, True)
        walk.block(node.body)
    after, narrowed_after = walk.scope.names, walk.scope.narrowed
    after_constants = walk.scope.constants
    walk.scope.names = dict(before)
    walk.scope.narrowed = dict(narrowed_before)
    walk.scope.constants = dict(constants)
    with walk.under(negative), walk.maybe(not known):
        conditions.narrow(walk, node.test, False)
        walk.block(node.orelse)
    if guards.leaves(node.body):
        # what follows runs only where the condition did not hold
        if known and guards.raises(node.body) and not node.orelse:
            held = walk.nodes.add(Not(condition))
            left = insist(walk, held, node)
            if left != held:
                negative = walk.guard
            if left and left != held:
                negative = walk.where(walk.guard, kind="if", condition=left, line=node.lineno)
        if known:
            walk.guard = negative
        return
    if node.orelse and guards.leaves(node.orelse):
        walk.scope.names, walk.scope.narrowed = after, narrowed_after
        walk.scope.constants = after_constants
        if known:
            walk.guard = positive
        return
    other = walk.scope.names
    joined = {}
    for name in sorted(set(after) | set(other)):
        one, two = after.get(name, UNKNOWN), other.get(name, UNKNOWN)
        if one == two:
            joined[name] = one
        elif known and not (two == UNKNOWN and name not in other and name not in before):
            joined[name] = walk.nodes.add(Select(condition, one, two))
        else:
            joined[name] = walk.both(one, two)
            if name not in other and name not in before:
                joined[name] = one
    # a parameter narrowed by isinstance is what it was again
    for name, value in before.items():
        if after.get(name) in narrow_values(walk, node.test):
            joined[name] = value
    walk.scope.names = joined
    walk.scope.narrowed = {
        k: v for k, v in walk.scope.narrowed.items() if narrowed_after.get(k) == v
    }
    walk.scope.constants = {
        k: v for k, v in after_constants.items() if walk.scope.constants.get(k) is v
    }


def narrow_values(walk: Walk, test: ast.expr) -> set[int]:
    """Nodes that an ``isinstance`` test gives its subject."""
    found: set[int] = set()
    for part in test.values if isinstance(test, ast.BoolOp) else [test]:
        if (
            isinstance(part, ast.Call)
            and isinstance(part.func, ast.Name)
            and part.func.id == "isinstance"
            and len(part.args) == 2
        ):
            with walk.silently():
                found.add(conditions.instance_of(walk, part.args[1]))
    return found - {UNKNOWN}


def walk_assert(walk: Walk, node: ast.Assert) -> None:
    """What follows runs only where it holds."""
    condition = conditions.condition(walk, node.test)
    walk.expr(node.test)
    conditions.narrow(walk, node.test, True)
    condition = insist(walk, condition, node)
    if condition:
        walk.guard = walk.where(walk.guard, kind="if", condition=condition, line=node.lineno)


def insist(walk: Walk, condition: int, where: ast.AST) -> int:
    """The uses that a condition makes which code insists on; what is left of it to guard by.

    ``assert "key" in TABLE`` fails where the table lacks the key: that is a break of its own, told
    at its place. What stands behind it is looked at as if it held, so that one break does not hide
    the next.

    Args:
        walk: The walk at hand.
        condition: The node of what has to hold.
        where: The statement that fails where it does not.
    """
    asked, positive = walk.nodes.table[condition], True
    while type(asked) is Not:
        asked, positive = walk.nodes.table[asked.condition], not positive
    if type(asked) is Registered:  # it fails where a table lacks the key, or has it already
        kind = UseKind.ITEM if positive else UseKind.REGISTER
        walk.use(kind, asked.table, where, name=asked.key, count=1)
        return UNKNOWN
    if type(asked) is Has and positive:
        attribute = walk.nodes.add(Attr(asked.base, asked.name))
        name = "insisted" if isinstance(where, ast.Assert) else "refused"
        walk.use(UseKind.PROBE, attribute, where, name=name)
    if type(asked) is (And if positive else Or):
        parts = [each for each in asked.conditions if each != UNKNOWN]
        if not positive:
            parts = [walk.nodes.add(Not(each)) for each in parts]
        left = [each for each in (insist(walk, part, where) for part in parts) if each]
        return walk.nodes.add(And(tuple(left))) if len(left) > 1 else sum(left)
    return condition


def matched(walk: Walk, pattern: ast.pattern) -> int:
    """A value that has matched a pattern."""
    match pattern:
        case ast.MatchClass(cls=cls):
            with walk.silently():
                return conditions.instance_of(walk, cls)
        case ast.MatchAs(pattern=ast.pattern() as inner):
            return matched(walk, inner)
        case ast.MatchOr(patterns=patterns):
            parts = [matched(walk, each) for each in patterns]
            return UNKNOWN if UNKNOWN in parts else walk.nodes.union(parts)
    return UNKNOWN


def keywords(walk: Walk, pattern: ast.MatchClass) -> None:
    """``case Request(rid=rid)`` reads an attribute: a class without it is never matched."""
    with walk.silently():
        of = conditions.instance_of(walk, pattern.cls)
    if not of or isinstance(walk.nodes.table[of], Literal):
        return
    for name, inner in zip(pattern.kwd_attrs, pattern.kwd_patterns, strict=True):
        read = walk.nodes.add(Attr(of, name))
        walk.mention(name)
        walk.use(UseKind.READ, read, inner)
        if isinstance(inner, ast.MatchAs) and inner.name and inner.pattern is None:
            walk.bind(inner.name, read)


def walk_match(walk: Walk, node: ast.Match) -> None:
    """Each case on its own; inside it the subject is what the pattern says."""
    walk.expr(node.subject)
    before = dict(walk.scope.names)
    for case in node.cases:
        walk.scope.names = dict(before)
        walk.moved()
        pattern = case.pattern
        if isinstance(pattern, ast.MatchAs) and pattern.pattern is not None:
            pattern = pattern.pattern
        if isinstance(pattern, ast.MatchClass) and isinstance(node.subject, ast.Name):
            made = walk.expr(pattern.cls)
            if made:
                walk.moved()
                walk.scope.names[node.subject.id] = walk.nodes.add(Instance(made))
        for part in ast.walk(case.pattern):
            name = getattr(part, "name", None)
            if isinstance(name, str):
                walk.bind(name, UNKNOWN)
            if isinstance(part, ast.MatchValue):
                walk.expr(part.value)
            if isinstance(part, ast.MatchClass):
                walk.expr(part.cls)
        for part in ast.walk(case.pattern):
            if isinstance(part, ast.MatchAs) and part.name and part.pattern is not None:
                walk.bind(part.name, matched(walk, part.pattern))
            if isinstance(part, ast.MatchClass):
                keywords(walk, part)
        key = dotted_name(node.subject)
        if key:
            with walk.silently():
                conditions.narrowed_to(
                    walk, key, matched(walk, case.pattern) or walk.expr(node.subject)
                )
        guard = walk.guard
        if case.guard is not None:
            condition = conditions.condition(walk, case.guard)
            walk.expr(case.guard)
            if condition:
                guard = walk.where(guard, kind="if", condition=condition, line=case.guard.lineno)
        with walk.under(guard), walk.maybe():
            walk.block(case.body)
    walk.scope.names = {
        name: value for name, value in before.items() if walk.scope.names.get(name) == value
    } | {name: UNKNOWN for name in walk.scope.names if name not in before}
