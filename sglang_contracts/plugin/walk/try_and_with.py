"""``try`` and ``with``: what catches a failure, and whether there is another way."""

from __future__ import annotations

import ast

from sglang_contracts.plugin.ir.nodes import UNKNOWN, Enter, Tried, Went
from sglang_contracts.plugin.ir.records import Attempt, UseKind
from sglang_contracts.plugin.walk import assignments
from sglang_contracts.plugin.walk import except_clauses as guards
from sglang_contracts.plugin.walk.state import Walk


def walk_with(walk: Walk, node: ast.With | ast.AsyncWith) -> None:
    """What is entered is bound; ``suppress`` catches as a ``try`` does."""
    suppressed: list[ast.expr] = []
    need = "entered" if isinstance(node, ast.With) else "entered-async"
    for item in node.items:
        value = walk.expr(item.context_expr)
        walk.needs(item.context_expr, value, need)
        call = item.context_expr
        if isinstance(call, ast.Call) and guards.last_name(call.func) == "suppress":
            suppressed += call.args
        if item.optional_vars is not None:
            entered = walk.nodes.add(Enter(value)) if value != UNKNOWN else UNKNOWN
            assignments.assign(walk, item.optional_vars, entered, None)
    if not suppressed:
        walk.block(node.body)
        return
    caught = ast.copy_location(ast.Tuple(suppressed, ast.Load()), node)
    passes = ast.copy_location(ast.Pass(), node)
    handler = ast.copy_location(ast.ExceptHandler(caught, None, [passes]), node)
    attempt(walk, ast.copy_location(ast.Try(node.body, [handler], [], []), node), node)


def keep_attempt(walk: Walk, record: Attempt) -> int:
    """Keep a ``try``; its number."""
    walk.file.attempts.append(record)
    return len(walk.file.attempts) - 1


def walk_try(walk: Walk, node: ast.Try) -> None:
    """The body under what catches its failure; the handlers where it fails."""
    attempt(walk, node, node)


def attempt(walk: Walk, node: ast.Try, statement: ast.stmt) -> None:
    """Walk a ``try``, or what comes to the same.

    Args:
        walk: The walk at hand.
        node: The ``try``.
        statement: What stands in the block: the ``try`` itself, or the ``with suppress(…)``.
    """
    if not node.handlers:
        walk.block(node.body)
        walk.block(node.finalbody)
        return
    names: list[str] = []
    relevant = [h for h in node.handlers if catches_absence(h)] or node.handlers
    for handler in node.handlers:
        names += guards.caught(handler.type)
    way_out = any(guards.is_way_out(h.body) for h in relevant)
    index = keep_attempt(
        walk,
        Attempt(
            node.lineno,
            names,
            way_out=way_out
            or guards.stands_in(node)
            or later_way_out(walk, node, statement)
            or tries_next(walk, node),
            raises=all(
                guards.raises(h.body) and not guards.is_way_out(h.body[:-1]) for h in relevant
            ),
        ),
    )
    before = dict(walk.scope.names)
    constants = dict(walk.scope.constants)
    guard = walk.where(walk.guard, kind="try", condition=index, line=node.lineno)
    uses = len(walk.file.uses)
    with walk.under(guard):
        walk.block(node.body)
    alternatives(walk, node, uses)
    went = walk.where(
        walk.guard, kind="if", condition=walk.nodes.add(Went(index)), line=node.lineno
    )
    with walk.under(went):
        walk.block(node.orelse)
    after = dict(walk.scope.names)
    after_constants = dict(walk.scope.constants)
    leaves = all(guards.leaves(h.body) for h in node.handlers)
    outcomes: list[dict[str, int]] = []
    for handler in node.handlers:
        walk.scope.names = dict(before)
        walk.scope.constants = dict(constants)
        if handler.name:
            walk.bind(handler.name, UNKNOWN)
        kind = walk.where(walk.guard, kind="handler", condition=index, line=handler.lineno)
        with walk.under(kind):
            if handler.type is not None:
                with walk.silently():
                    walk.expr(handler.type)
            walk.block(handler.body)
        if not guards.leaves(handler.body) and handler in relevant:
            outcomes.append(dict(walk.scope.names))
    walk.scope.constants = after_constants
    joined = dict(after)
    for outcome in outcomes[:1]:
        for name in sorted(set(after) | set(outcome)):
            one, other = after.get(name, UNKNOWN), outcome.get(name, UNKNOWN)
            if one != other:
                joined[name] = walk.nodes.add(Tried(index, one, other))
    walk.scope.names = joined
    walk.block(node.finalbody)
    if leaves and not guards.leaves(node.body):
        walk.guard = went
    elif guards.leaves([*node.body, *node.orelse]) and not leaves:
        # what follows runs only where the attempt failed
        walk.guard = walk.where(
            walk.guard,
            kind="if",
            condition=walk.nodes.add(Went(index)),
            positive=False,
            line=node.lineno,
        )


def catches_absence(handler: ast.ExceptHandler) -> bool:
    """Whether a handler catches what a missing name raises."""
    names = set(guards.caught(handler.type))
    return bool(names & (guards.IMPORT_ERRORS | guards.ATTRIBUTE_ERRORS))


def later_way_out(walk: Walk, node: ast.Try, statement: ast.stmt) -> bool:
    """A handler that passes, where the body returned: what follows is the other way."""
    if not node.body or not isinstance(node.body[-1], ast.Return):
        return False
    following = walk.following(statement)
    return bool(following) and guards.is_way_out(following)


def alternatives(walk: Walk, node: ast.Try, before: int) -> None:
    """Imports that bind one name in attempts after each other: one of them is enough.

    ``with suppress(ImportError): from new import x``, twice, from two modules.

    Args:
        walk: The walk at hand, right after the body.
        node: The attempt.
        before: How many uses there were when its body began.
    """
    imports = {each.node: each for each in walk.file.uses[before:] if each.kind is UseKind.IMPORT}
    for name in sorted(guards.binds(node.body)):
        use = imports.get(walk.scope.names.get(name, UNKNOWN))
        if use is None:
            continue
        first = walk.tried.setdefault((walk.scope, name), use)
        around = [walk.file.guards[each.guard].parent for each in (first, use)]
        if first is use or around[0] != around[1]:
            continue
        group = first.group or walk.new_group()
        first.group = use.group = group
        if group not in walk.file.groups:
            walk.file.groups.append(group)


def tries_next(walk: Walk, node: ast.Try) -> bool:
    """A loop over constants whose body tries one: where it fails, the next is the way out."""
    loop = walk.loops[-1] if walk.loops else None
    if not isinstance(loop, (ast.For, ast.AsyncFor)) or not isinstance(loop.target, ast.Name):
        return False
    choice = walk.scope.constants.get(loop.target.id)
    if choice is None or not getattr(choice, "sglang_choice", False):
        return False
    return len(choice.elts) > 1 and any(  # type: ignore[attr-defined]
        isinstance(part, ast.Name) and part.id == loop.target.id
        for statement in node.body
        for part in ast.walk(statement)
    )
