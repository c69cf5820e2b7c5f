"""Walk that a release decides, and what they tell of their subject."""

from __future__ import annotations

import ast

from sglang_contracts.plugin.ir.nodes import (
    UNKNOWN,
    Always,
    And,
    Attr,
    Call,
    Compare,
    Found,
    Has,
    HasNamed,
    Instance,
    Kept,
    Literal,
    LocalClass,
    LocalFunction,
    Never,
    Not,
    Or,
    Param,
    PluginName,
    Probe,
    Registered,
    Select,
    Self,
    Takes,
    Tried,
    Truth,
    Went,
    Without,
)
from sglang_contracts.plugin.ir.records import UseKind
from sglang_contracts.plugin.walk import (
    call_arguments,
    loop_targets,
    name_membership,
    string_constants,
    version_comparisons,
)
from sglang_contracts.plugin.walk import except_clauses as guards
from sglang_contracts.plugin.walk.scope import LITERALS, Scope, dotted_name
from sglang_contracts.plugin.walk.state import Walk

ANSWERS = frozenset(
    {Compare, Has, Takes, Found, Registered, Not, And, Or, Went, Truth, Always, Never}
)
"""Operations whose value is an answer about the release."""
_DECIDED = ANSWERS | {HasNamed, Kept, PluginName, Probe, Tried}


_FILTERED = (ast.ListComp, ast.SetComp)
"""Comprehensions that may be empty: a name for one is an answer."""


def type_checking(walk: Walk, test: ast.expr) -> bool:
    """Whether a test is ``TYPE_CHECKING``."""
    return guards.last_name(test) == "TYPE_CHECKING"


def condition(walk: Walk, test: ast.expr) -> int:
    """The node of a condition that a release decides; 0 for any other."""
    with walk.silently():
        return _condition(walk, test)


def _condition(walk: Walk, test: ast.expr) -> int:
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=inner):
            negated = _condition(walk, inner)
            return walk.nodes.add(Not(negated)) if negated else UNKNOWN
        case ast.BoolOp(op=op, values=values):
            parts = [_condition(walk, each) for each in values]
            known = [part for part in parts if part]
            if isinstance(op, ast.And) and known:
                # what is unknown may be either: only "false" is then certain
                extra = () if len(known) == len(parts) else (UNKNOWN,)
                return walk.nodes.add(And((*known, *extra)))
            if isinstance(op, ast.Or) and known:
                extra = () if len(known) == len(parts) else (UNKNOWN,)
                return walk.nodes.add(Or((*known, *extra)))
            return UNKNOWN
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            return comparison(walk, left, op, right)
        case ast.Compare(left=left, ops=ops, comparators=others):
            sides = [left, *others]
            parts = [
                comparison(walk, one, op, other)
                for one, op, other in zip(sides, ops, sides[1:], strict=False)
            ]
            return UNKNOWN if UNKNOWN in parts else walk.nodes.add(And(tuple(parts)))
        case ast.Call(func=ast.Name(id="hasattr"), args=[subject, name]):
            base = name_membership.subject(walk, subject)
            names = string_constants.texts(walk, name)
            if base and names == ["*"]:
                named = walk.expr(name)
                passed = named and type(walk.nodes.table[named]) is Param
                return walk.nodes.add(HasNamed(base, named)) if passed else UNKNOWN
            if base and names and "*" not in names:
                found = [walk.nodes.add(Has(base, each)) for each in names]
                return found[0] if len(found) == 1 else walk.nodes.add(Or(tuple(found)))
            return UNKNOWN
        case ast.Call(
            func=ast.Name(id="all" | "any" as quantifier),
            args=[ast.GeneratorExp(elt=element, generators=[only])],
        ) if not only.ifs:
            return for_each(walk, quantifier, element, only)
        case ast.Call(func=ast.Name(id="callable"), args=[subject]):
            return _condition(walk, subject)
        case ast.Call(func=ast.Name(id="isinstance"), args=[ast.Call() as subject, _]):
            present = walk.expr(subject)  # what a default stands for is of no such class
            if type(walk.nodes.table[present]) is not Probe:
                return UNKNOWN
            return walk.nodes.add(And((walk.nodes.add(Truth(present)), UNKNOWN)))
        case ast.Call(
            func=ast.Name(id="is_dataclass") | ast.Attribute(attr="is_dataclass"), args=[subject]
        ):
            base = name_membership.subject(walk, subject)
            return walk.nodes.add(Has(base, "__dataclass_fields__")) if base else UNKNOWN
        case ast.Call(
            func=ast.Name(id="isinstance" | "issubclass"),
            args=[subject, ast.Name(id="Struct") | ast.Attribute(attr="Struct")],
        ):
            base = name_membership.subject(walk, subject)
            return walk.nodes.add(Has(base, "__struct_fields__")) if base else UNKNOWN
        case ast.Call(func=ast.Name(id="getattr"), args=[_, _, _]):
            asked = walk.expr(test)
            present = type(walk.nodes.table[asked]) is Probe
            return walk.nodes.add(Truth(asked)) if present else UNKNOWN
        case ast.Call(func=ast.Name(id="bool"), args=[subject]):
            return _condition(walk, subject)
        case ast.Call(func=func) if walk.asks_for_module(func):
            return name_membership.module_there(walk, test)
        case ast.Call(func=func) if isinstance(func, (ast.Name, ast.Attribute)):
            callee = walk.expr(func)
            if callee and (
                version_comparisons.is_version(walk, callee)
                or version_comparisons.decides(walk, test, callee)
            ):
                return walk.nodes.add(
                    Truth(walk.nodes.add(Call(callee, call_arguments.form(walk, test))))
                )
            return UNKNOWN
        case ast.NamedExpr(value=value):
            return _condition(walk, value)
        case ast.Constant(value=value):
            return walk.nodes.add(Always()) if value else walk.nodes.add(Never())
        case ast.ListComp() | ast.SetComp():
            return remains(walk, test)
        case ast.Name(id=name) if isinstance(walk.scope.constant(name), _FILTERED):
            return _condition(walk, walk.scope.constant(name))  # type: ignore[arg-type]
        case ast.Name() | ast.Attribute() | ast.Subscript():
            value = walk.expr(test)
            if value and decided(walk, value):
                return walk.nodes.add(Truth(value))
            return UNKNOWN
        case _:
            return UNKNOWN


def for_each(walk: Walk, quantifier: str, element: ast.expr, loop: ast.comprehension) -> int:
    """``all(hasattr(x, name) for name in ("a", "b"))``."""
    elements = walk.expr(loop.iter)  # as it was worked out before: names may move from here on
    outer, state = walk.scope, walk.state
    walk.scope = Scope(outer, outer.function, outer.owner)
    walk.moved()
    try:
        classes = loop.iter
        if isinstance(classes, ast.Attribute) and classes.attr == "__mro__":
            loop_targets.loop_over(walk, loop.target, classes, UNKNOWN)
            if isinstance(loop.target, ast.Name):  # what a base has the class has
                walk.bind(loop.target.id, walk.expr(classes.value))
        else:
            loop_targets.loop_over(walk, loop.target, loop.iter, elements)
        found = _condition(walk, element)
    finally:
        walk.scope, walk.state = outer, state
    held, positive = walk.nodes.table[found], True
    while type(held) is Not:
        held, positive = walk.nodes.table[held.condition], not positive
    if type(held) is not Or or (quantifier == "all") is not positive:
        return found  # of several names a condition says "one of them"
    every = walk.nodes.add(And(held.conditions))
    return every if positive else walk.nodes.add(Not(every))


def remains(walk: Walk, node: ast.ListComp | ast.SetComp) -> int:
    """``[name for name in NAMES if not hasattr(x, name)]``: whether there is one."""
    if id(node) not in walk.remaining:
        walk.remaining[id(node)] = UNKNOWN  # where it is asked for within itself
        match node.generators:
            case [ast.comprehension(ifs=[test]) as only]:
                walk.remaining[id(node)] = for_each(walk, "any", test, only)
    return walk.remaining[id(node)]


def decided(walk: Walk, node: int, depth: int = 0) -> bool:
    """Whether a release alone decides the truth of a value."""
    held = walk.nodes.table[node]
    if type(held) in _DECIDED:
        return True
    if type(held) is Attr:
        # what the class keeps there may be an answer that was asked for before
        return isinstance(walk.nodes.table[held.base], (Self, LocalClass, PluginName))
    if type(held) is Select and depth < 4:
        return True
    if type(held) is Call:
        if version_comparisons.is_version(walk, held.callee):
            return True
        return isinstance(walk.nodes.table[held.callee], (LocalFunction, PluginName)) and (
            version_comparisons.takes_version(walk, held.form)
            or not walk.file.forms[held.form].positional
        )
    return type(held) is Literal and held.kind in ("None", "true", "false")


def comparison(walk: Walk, left: ast.expr, op: ast.cmpop, right: ast.expr) -> int:
    """``version >= "0.5.13"``, ``X is not None``, ``"x" in dir(y)``, ``{"x"} <= set(dir(y))``."""
    if isinstance(op, ast.LtE) and isinstance(left, ast.Set):
        every = [name_membership.member_of(walk, each, right) for each in left.elts]
        return UNKNOWN if UNKNOWN in every else walk.nodes.add(And(tuple(every)))
    if isinstance(op, (ast.In, ast.NotIn)):
        listed = name_membership.member_of(walk, left, right)
        if not listed:
            return version_comparisons.compare(walk, left, op, right)
        return walk.nodes.add(Not(listed)) if isinstance(op, ast.NotIn) else listed
    if isinstance(op, (ast.Is, ast.IsNot)) and isinstance(right, ast.Name):
        return sentinel(walk, left, op, right)
    if (
        isinstance(right, ast.Constant)
        and right.value is None
        and isinstance(op, (ast.Is, ast.IsNot, ast.Eq, ast.NotEq))
    ):
        present = name_membership.module_there(walk, left)
        if not present:
            value = walk.expr(left)
            if not value or not decided(walk, value):
                return UNKNOWN
            present = walk.nodes.add(Truth(value))
        return present if isinstance(op, (ast.IsNot, ast.NotEq)) else walk.nodes.add(Not(present))
    return version_comparisons.compare(walk, left, op, right)


def sentinel(walk: Walk, left: ast.expr, op: ast.cmpop, right: ast.expr) -> int:
    """``x is not MISSING``, where ``x`` is ``getattr(y, "name", MISSING)``."""
    value, other = walk.expr(left), walk.expr(right)
    held = walk.nodes.table[value]
    if not other or type(held) is not Probe:
        return UNKNOWN
    asked = walk.nodes.table[held.value]
    if held.default != other or type(asked) is not Attr:
        return UNKNOWN
    has = walk.nodes.add(Has(asked.base, asked.name))
    return has if isinstance(op, ast.IsNot) else walk.nodes.add(Not(has))


def instance_of(walk: Walk, classes: ast.expr) -> int:
    """The value an ``isinstance`` against these classes leaves."""
    if isinstance(classes, ast.Tuple):
        parts = [instance_of(walk, each) for each in classes.elts]
        return UNKNOWN if UNKNOWN in parts else walk.nodes.union(parts)
    value = walk.expr(classes)
    if value:
        return walk.nodes.add(Instance(value))
    name = guards.last_name(classes)
    return walk.nodes.literal(LITERALS[name]) if name in LITERALS else UNKNOWN


def narrow(walk: Walk, test: ast.expr, positive: bool) -> None:
    """What a test tells of its subject inside the branch."""
    note_tested(walk, test)
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        narrow(walk, test.operand, not positive)
        return
    if isinstance(test, ast.BoolOp):
        if isinstance(test.op, ast.And) == positive:
            for each in test.values:
                narrow(walk, each, positive)
        return
    match test:
        case ast.Compare(
            left=ast.Call(func=ast.Name(id="type"), args=[subject]),
            ops=[ast.Is() | ast.Eq()],
            comparators=[exact],
        ):
            key = dotted_name(subject)
            if key and positive:
                with walk.silently():
                    narrowed_to(walk, key, instance_of(walk, exact))
            return
    if not isinstance(test, ast.Call) or not isinstance(test.func, ast.Name):
        return
    if test.func.id not in ("isinstance", "issubclass") or len(test.args) != 2:
        return
    subject, classes = test.args
    if isinstance(subject, ast.NamedExpr):
        subject = subject.target
    of_type = False
    match subject:
        case ast.Call(func=ast.Name(id="type"), args=[inner]) if test.func.id == "issubclass":
            subject, of_type = inner, True
        case ast.Attribute(value=inner, attr="__class__") if test.func.id == "issubclass":
            subject, of_type = inner, True
    key = dotted_name(subject)
    if not key:
        return
    with walk.silently():
        value = UNKNOWN
        if test.func.id == "isinstance" or of_type:
            value = instance_of(walk, classes)
            if not positive:
                before = walk.expr(subject)
                value = walk.nodes.add(Without(before, value)) if before and value else 0
        elif positive:
            value = walk.expr(classes) if not isinstance(classes, ast.Tuple) else UNKNOWN
    if "." in key or key in walk.scope.names or positive:
        narrowed_to(walk, key, value)


def note_tested(walk: Walk, test: ast.expr) -> None:
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
    with walk.silently():
        asked = walk.expr(subject)
    walk.tested.add(asked)
    if type(walk.nodes.table[asked]) is Call and not isinstance(test, ast.Compare):
        walk.use(UseKind.NEED, asked, test, name="truth")


def narrowed_to(walk: Walk, key: str, value: int) -> None:
    """What a test leaves of its subject."""
    walk.moved()
    held = walk.scope.narrowed if "." in key else walk.scope.names
    held[key] = value
