"""Assignments: names, attributes, keys and several targets at once."""

from __future__ import annotations

import ast

from sglang_contracts.plugin.ir.nodes import (
    UNKNOWN,
    Attr,
    Filled,
    Iter,
    Known,
    ListOf,
    LocalClass,
    Self,
    TupleOf,
)
from sglang_contracts.plugin.ir.records import UseKind
from sglang_contracts.plugin.walk import call_arguments as arguments
from sglang_contracts.plugin.walk import containers, dict_keys, keys, operands, string_constants
from sglang_contracts.plugin.walk import except_clauses as guards
from sglang_contracts.plugin.walk.scope import BUILTINS, dotted_name
from sglang_contracts.plugin.walk.state import Walk


def walk_assignment(walk: Walk, node: ast.Assign) -> None:
    """``a = b``."""
    if any(isinstance(each, (ast.Tuple, ast.List)) for each in node.targets):
        walk.used_at_once(node.value)
    value = walk.expr(node.value)
    for target in node.targets:
        value = containers.made(walk, node.value, value, guards.last_name(target))
    for target in node.targets:
        assign(walk, target, value, node.value)


def walk_annotated(walk: Walk, node: ast.AnnAssign) -> None:
    """``a: T = b``: the annotation says what it is, before the value does."""
    note = string_constants.annotation(walk, node.annotation)
    value = walk.expr(node.value) if node.value is not None else UNKNOWN
    held = containers.made(walk, node.value, value, guards.last_name(node.target))
    if type(walk.nodes.table[held]) is Filled and not containers.says_elements(walk, note):
        note, value = UNKNOWN, held
    assign(walk, node.target, note or value, node.value)
    if note:
        declare(walk, node.target, note)


def declare(walk: Walk, target: ast.expr, note: int) -> None:
    """An annotated attribute of an own class is what it is declared to be."""
    if isinstance(target, ast.Attribute):
        with walk.silently():
            base = walk.nodes.table[walk.expr(target.value)]
        if isinstance(base, (Self, LocalClass)) and base.qual in walk.file.classes:
            walk.file.classes[base.qual].declared.setdefault(target.attr, note)


def walk_augmented(walk: Walk, node: ast.AugAssign) -> None:
    """``a += b`` reads and binds."""
    walk.expr(node.value)
    with walk.silently():
        value = walk.expr(node.target)
    if isinstance(node.target, ast.Attribute):
        walk.expr(
            ast.copy_location(
                ast.Attribute(node.target.value, node.target.attr, ast.Load()), node.target
            )
        )
    if containers.put_by_sum(walk, value, node.value):
        return
    assign(walk, node.target, walk.nodes.literal("number") if value else UNKNOWN, None)


def assign(walk: Walk, target: ast.expr, value: int, source: ast.expr | None) -> None:
    """Bind a target."""
    _bind(walk, target, value, source)
    walk.moved()


def _bind(walk: Walk, target: ast.expr, value: int, source: ast.expr | None) -> None:
    match target:
        case ast.Name(id=name):
            walk.bind(name, value)
            walk.mention(name)
            walk.scope.dicts.pop(name, None)
            empty = type(walk.nodes.table[value]) is Filled and containers.is_empty(walk, source)
            if (source is not None and not empty) and (
                string_constants.is_display(walk, source) or string_constants.is_alias(walk, source)
            ):
                walk.scope.constants[name] = source
            if isinstance(source, ast.Call) and guards.last_name(source.func) == "TypeVar":
                walk.scope.variables[name] = source
            keys = dict_keys.keys_of(walk, source)
            if keys is not None:
                walk.scope.dicts[name] = keys
                walk.scope.set_under.pop(name, None)
        case ast.Attribute(value=base_expr, attr=attr):
            base = walk.expr(base_expr)
            walk.mention(attr)
            walk.defined.add(attr)
            key = dotted_name(target)
            if key:
                walk.scope.narrowed[key] = value
            if base == UNKNOWN:
                name = guards.last_name(base_expr)
                if not name or name in BUILTINS:
                    return
                base = walk.nodes.add(Known(name))
            held = walk.nodes.table[base]
            if isinstance(held, (Self, LocalClass)):
                is_text = (
                    isinstance(source, ast.Dict) and attr not in containers.filled_names(walk)
                ) or (isinstance(source, ast.Constant) and isinstance(source.value, str))
                if source is not None and is_text and not walk.guard and walk.stored(attr) == 1:
                    walk.class_constants.setdefault((held.qual, attr), source)
                    walk.set_on_objects.add((held.qual, attr))
                walk.keep(held.qual, attr, value, target.lineno)
            walk.use(UseKind.WRITE, walk.nodes.add(Attr(base, attr)), target, value=value)
        case ast.Tuple(elts=elements) | ast.List(elts=elements):
            unpack(walk, elements, value, source, target)
        case ast.Subscript(value=base_expr, slice=key_expr):
            base = walk.expr(base_expr)
            walk.keyed(target, walk.expr(key_expr), base)
            containers.put_by_key(walk, base, value, source)
            if isinstance(base_expr, ast.Name) and base_expr.id in walk.scope.dicts:
                kept = value
                if source is not None:
                    with walk.silently():
                        kept = operands.argument(walk, source)
                for key in string_constants.texts(walk, key_expr):
                    if key != "*":
                        walk.scope.dicts[base_expr.id][key] = kept
                        arguments.set_key(walk, base_expr.id, key)
            if base == UNKNOWN:
                return
            for key in string_constants.texts(walk, key_expr):
                if key == "*":
                    continue
                walk.use(UseKind.REGISTER, base, target, name=key, value=value)
        case ast.Starred(value=inner):  # bound in ``unpack``, where its elements are known
            assign(walk, inner, value, None)
        case _:
            walk.expr(target)


def unpack(
    walk: Walk, elements: list[ast.expr], value: int, source: ast.expr | None, where: ast.AST
) -> None:
    """Bind several targets at once."""
    if isinstance(source, (ast.Tuple, ast.List)) and len(source.elts) == len(elements):
        with walk.silently():
            values = [walk.expr(each) for each in source.elts]
        for each, one, text in zip(elements, values, source.elts, strict=True):
            assign(walk, each, containers.made(walk, text, one, guards.last_name(each)), text)
        return
    star = any(isinstance(each, ast.Starred) for each in elements)
    if value != UNKNOWN and type(walk.nodes.table[value]) is not TupleOf:
        least = len(elements) - 1 if star else len(elements)
        walk.use(UseKind.UNPACK, value, where, count=-least - 1 if star else least)
    for position, each in enumerate(elements):
        one = UNKNOWN
        if value != UNKNOWN and not star:
            one = walk.nodes.part(value, position, len(elements))
        elif value != UNKNOWN and type(walk.nodes.table[value]) is not TupleOf:
            one = walk.nodes.add(Iter(value))  # of equal elements, or it is unknown
            if isinstance(each, ast.Starred):
                one = walk.nodes.add(ListOf(one))
        assign(walk, each, one, None)


def walk_deletion(walk: Walk, node: ast.Delete) -> None:
    """A name goes; an attribute has to be there to go."""
    for target in node.targets:
        if isinstance(target, ast.Name):
            walk.scope.names.pop(target.id, None)
        elif isinstance(target, ast.Attribute):
            base = walk.expr(target.value)
            if base:
                walk.use(UseKind.READ, walk.nodes.add(Attr(base, target.attr)), target)
        elif isinstance(target, ast.Subscript):
            base = walk.expr(target.value)
            walk.expr(target.slice)
            keys.taken(walk, target, base, target.slice)
