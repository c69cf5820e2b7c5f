"""What a call is given: its form, spread lists, and dicts that keywords are kept in."""

from __future__ import annotations

import ast
import copy

from sglang_contracts.plugin.ir.nodes import Call, Partial
from sglang_contracts.plugin.ir.records import Form, UseKind
from sglang_contracts.plugin.walk import dict_keys, operands, string_constants
from sglang_contracts.plugin.walk import except_clauses as guards
from sglang_contracts.plugin.walk.scope import Scope
from sglang_contracts.plugin.walk.state import Walk


def form(walk: Walk, node: ast.Call | None = None) -> int:
    """The form of a call, as an index; arguments are walked."""
    record = Form()
    if node is not None:
        for arg in node.args:
            if isinstance(arg, ast.Starred):
                record.star = True
                known = string_constants.display(walk, arg.value)
                walk.expr(arg.value)
                if guards.last_name(arg.value) in walk.filled_lists():
                    continue
                if isinstance(known, (ast.Tuple, ast.List)) and not any(
                    isinstance(e, ast.Starred) for e in known.elts
                ):
                    spread(walk, record, known.elts)
                continue
            value = operands.argument(walk, arg)
            if not record.star:
                record.positional.append(value)
                record.names.append(guards.last_name(arg))
        for keyword in node.keywords:
            if keyword.arg is None:
                value = walk.expr(keyword.value)
                expand(walk, record, keyword.value, value)
            else:
                walk.mention(keyword.arg)
                record.keywords[keyword.arg] = operands.argument(walk, keyword.value)
    return keep_form(walk, record)


def keep_form(walk: Walk, record: Form) -> int:
    """A form's index; equal ones are one."""
    key = (
        tuple(record.positional),
        tuple(record.names),
        tuple(record.keywords.items()),
        record.star,
        record.double_star,
        tuple(record.spread),
    )
    index = walk.forms.get(key)
    if index is None:
        index = walk.forms[key] = len(walk.file.forms)
        walk.file.forms.append(record)
    return index


def completed(walk: Walk, callee: int, form: int) -> tuple[int, int]:
    """A call of a ``partial`` is one of what is inside, with what both are given."""
    held = walk.nodes.table[callee]
    while type(held) is Partial:
        first, rest = walk.file.forms[held.form], walk.file.forms[form]
        form = keep_form(
            walk,
            Form(
                [*first.positional, *rest.positional],
                [*first.names, *rest.names],
                {**first.keywords, **rest.keywords},
                first.star or rest.star,
                first.double_star or rest.double_star,
                [*first.spread, *rest.spread],
            ),
        )
        callee = held.callee
        held = walk.nodes.table[callee]
    return callee, form


def spread(walk: Walk, record: Form, elements: list[ast.expr]) -> None:
    """``*args`` whose elements stand in a display: they are passed one by one."""
    record.star = False
    with walk.silently():
        for each in elements:
            record.positional.append(operands.argument(walk, each))
            record.names.append(guards.last_name(each))


def expand(walk: Walk, record: Form, node: ast.expr, value: int) -> None:
    """``**kwargs`` whose keys stand in a display, or are told by what makes it."""
    record.double_star = True
    keys = dict_keys.keys_of(walk, node)
    set_under: dict[str, int] = {}
    if isinstance(node, ast.Name):
        if keys is None and value and node.id not in dict_keys.shrunk(walk):
            record.spread.append(value)
        keys = known_keys(walk, node.id)
        set_under = walk.scope.set_under.get(node.id, {})
    elif keys is None and value:
        record.spread.append(value)
    for key, held in (keys or {}).items():
        if within(walk, set_under.get(key, 0)):
            record.keywords.setdefault(key, held)


def known_keys(walk: Walk, name: str) -> dict[str, int]:
    """The keys of the dict that goes by a name, in this scope or one around it."""
    scope: Scope | None = walk.scope
    while scope is not None:
        if name in scope.dicts:
            return scope.dicts[name]
        if name in scope.names:
            break
        scope = scope.parent
    return {}


def within(walk: Walk, guard: int) -> bool:
    """Whether what stands here runs under a guard."""
    here = walk.guard
    while here and here != guard:
        here = walk.file.guards[here].parent
    return here == guard


def optional(walk: Walk, node: ast.Call, callee: int, form: int) -> None:
    """``if "x" in taken: kw["x"] = 1`` before ``f(**kw)``: the call as it is then."""
    names = [
        keyword.value.id
        for keyword in node.keywords
        if keyword.arg is None and isinstance(keyword.value, ast.Name)
    ]
    for name in names:
        keys = known_keys(walk, name)
        set_under = walk.scope.set_under.get(name, {})
        for guard in sorted({set_under[key] for key in keys if key in set_under}):
            if within(walk, guard):
                continue
            record = copy.copy(walk.file.forms[form])
            record.keywords = dict(record.keywords)
            for key, value in keys.items():
                if set_under.get(key) == guard:
                    record.keywords.setdefault(key, value)
            walk.file.forms.append(record)
            value = walk.nodes.add(Call(callee, len(walk.file.forms) - 1))
            with walk.under(guard):
                walk.use(UseKind.CALL, value, node.func)


def drop_key(walk: Walk, name: str, key: str) -> None:
    """``kw.pop("x")``: gone, or gone under the condition it stands under."""
    walk.moved()
    held = walk.scope.dicts.get(name, {})
    if key not in held:
        return
    set_under = walk.scope.set_under.setdefault(name, {})
    record = walk.file.guards[walk.guard]
    if walk.guard == set_under.get(key, 0) or record.kind != "if":
        del held[key]
        return
    set_under[key] = walk.where(
        record.parent,
        kind="if",
        condition=record.condition,
        positive=not record.positive,
        line=record.line,
    )


def update_dict(walk: Walk, func: ast.Attribute, node: ast.Call) -> None:
    """``kw.update(a=…)``, ``kw.setdefault("a", …)`` add keys to a dict that flows into a call."""
    if not isinstance(func.value, ast.Name):
        return
    held = walk.scope.dicts.get(func.value.id)
    if held is None:
        return
    added: dict[str, int] = {}
    if func.attr == "setdefault":
        texts = string_constants.texts(walk, node.args[0]) if len(node.args) == 2 else []
        if len(texts) == 1 and texts[0] != "*":
            with walk.silently():
                added[texts[0]] = operands.argument(walk, node.args[1])
    else:
        for each in node.args:
            added.update(dict_keys.keys_of(walk, each) or {})
        for keyword in node.keywords:
            if keyword.arg:
                with walk.silently():
                    added[keyword.arg] = operands.argument(walk, keyword.value)
    for key, value in added.items():
        if func.attr == "update" or key not in held:
            held[key] = value
            set_key(walk, func.value.id, key)


def returned_keys(walk: Walk, node: ast.expr | None) -> list[str]:
    """Keys of the dict that a ``return`` statement returns, as far as they are told."""
    if node is None:
        return []
    if not isinstance(node, ast.Name):
        return list(dict_keys.keys_of(walk, node) or {})
    set_under = walk.scope.set_under.get(node.id, {})
    keys = walk.scope.dicts.get(node.id, {})
    return [key for key in keys if within(walk, set_under.get(key, 0))]


def set_key(walk: Walk, name: str, key: str) -> None:
    """Remember under which guard a key of a dict was set."""
    walk.moved()
    walk.scope.set_under.setdefault(name, {})[key] = walk.guard
