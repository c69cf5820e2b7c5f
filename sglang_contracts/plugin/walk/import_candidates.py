"""Modules that a plugin imports by name, one of several: ``for path in (NEW, OLD): try: …``.

A compatibility module keeps its candidates in a table, a list or the arguments of a helper, and a
loop tries one after the other. Of such candidates one is enough. A helper that only answers whether
a module is there is a question, as ``find_spec`` is.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from sglang_contracts.plugin.ir.records import File, Use, UseKind
from sglang_contracts.plugin.walk import except_clauses as guards

_IMPORTERS = frozenset({"import_module", "__import__", "resolve_name", "import_string"})
_FINDER = "find_spec"
_SAME_ELEMENTS = frozenset({"list", "tuple", "reversed", "enumerate", "sorted", "iter", "set"})
_FURTHEST = 5
"""Steps that are followed from a loop to what it runs over."""

Definition = ast.FunctionDef | ast.AsyncFunctionDef
Loop = ast.For | ast.AsyncFor | ast.comprehension


class Span(NamedTuple):
    """Where candidates stand: from a line and column to another."""

    first: tuple[int, int]
    last: tuple[int, int]

    def holds(self, use: Use) -> bool:
        """Whether a use stands there."""
        return self.first <= (use.line, use.column - 1) < self.last


def module_questions(everything: Sequence[ast.AST]) -> frozenset[str]:
    """Names of the file's functions that answer whether the module they are given is there."""
    if not _imports_by_name(everything):
        return frozenset()
    found = {_FINDER}
    for function in everything:
        if isinstance(function, Definition) and _answers(function):
            found.add(function.name)
    return frozenset(found)


def _answers(function: Definition) -> bool:
    """Whether a function only says if the module that its first parameter names is there."""
    parameters = _parameters(function)
    if not parameters:
        return False
    body = [each for each in function.body if not guards.is_log(_expression(each))]
    match body:
        case [ast.Return(value=ast.expr() as value)]:
            return any(_tries(each, {parameters[0]}, (_FINDER,)) for each in ast.walk(value))
        case [ast.Try(body=tried, handlers=handlers, orelse=orelse), *rest]:
            return (
                any(_tries_in(each, {parameters[0]}, (_FINDER, *_IMPORTERS)) for each in tried)
                and all(guards.is_answer(each.body[-1:]) for each in handlers)
                and all(isinstance(each, ast.Return) for each in rest)
                and (guards.is_answer([*tried, *orelse, *rest][-1:]) or _asks(tried[-1]))
            )
    return False


def _asks(statement: ast.stmt) -> bool:
    """Whether a statement returns what ``find_spec`` says."""
    return isinstance(statement, ast.Return) and _tries_in(statement, None, (_FINDER,))


def mark_alternatives(file: File, everything: Sequence[ast.AST], groups: _Groups) -> None:
    """Mark candidates of which one is enough.

    Args:
        file: The record of the file, with its uses.
        everything: Every node of the file's tree.
        groups: Numbers of the groups of dotted strings.
    """
    if not _imports_by_name(everything) or not any(u.kind is UseKind.DOTTED for u in file.uses):
        return
    for place, span in {**_candidates(everything), **_chosen(everything)}.items():
        group = groups.setdefault(place, len(groups) + 1)
        for use in file.uses:
            if use.kind is UseKind.DOTTED and span.holds(use):
                use.group = group
        if group not in file.groups:
            file.groups.append(group)


_Groups = dict[tuple[int, int], int]


def _imports_by_name(everything: Iterable[ast.AST]) -> bool:
    return any(
        isinstance(each, ast.Call) and guards.last_name(each.func) in (*_IMPORTERS, _FINDER)
        for each in everything
    )


# -- loops over candidates -------------------------------------------------------------------------


def _candidates(everything: Sequence[ast.AST]) -> dict[tuple[int, int], Span]:
    """What loops run over that try to import each element."""
    sources = _Sources(everything)
    found: dict[tuple[int, int], Span] = {}
    for loop, around in _within(everything):
        tries = _asks_each(loop) if isinstance(loop, ast.comprehension) else _tries_each(loop)
        for span in sources.displays(loop.iter, around) if tries else ():
            found[span.first] = span
    return found


def _within(everything: Sequence[ast.AST]) -> Iterator[tuple[Loop, list[ast.AST]]]:
    """Loops of the file, each with the functions and loops around it, the nearest last."""
    module = everything[0]
    stack: list[tuple[ast.AST, list[ast.AST]]] = [(module, [])]
    while stack:
        node, around = stack.pop()
        if isinstance(node, (ast.For, ast.AsyncFor, ast.comprehension)):
            yield node, around
        if isinstance(node, (ast.For, ast.AsyncFor, *Definition.__args__)):
            around = [*around, node]
        stack += [(child, around) for child in ast.iter_child_nodes(node)]


def _tries_each(loop: ast.For | ast.AsyncFor) -> bool:
    """Whether a loop tries to import its target, and goes on where that fails."""
    names = _derived(loop)
    return any(
        isinstance(part, ast.Try)
        and _goes_on(part)
        and any(_tries_in(each, names, _IMPORTERS) for each in part.body)
        for part in ast.walk(loop)
    )


def _asks_each(loop: ast.comprehension) -> bool:
    """Whether a comprehension leaves out what ``find_spec`` does not find."""
    names = _names(loop.target)
    return any(_tries_in(each, names, (_FINDER,)) for each in loop.ifs)


def _goes_on(attempt: ast.Try) -> bool:
    """Whether a failed import is caught and not only raised again."""
    return any(
        guards.IMPORT_ERRORS.intersection(guards.caught(each.type)) and not guards.raises(each.body)
        for each in attempt.handlers
    )


def _derived(loop: ast.For | ast.AsyncFor) -> set[str]:
    """Names of a loop's target, and of what is made of them in its body."""
    names = _names(loop.target)
    for part in ast.walk(loop):
        if isinstance(part, ast.Assign) and names & _names(part.value):
            for target in part.targets:
                names |= _names(target)
    return names


def _tries(node: ast.AST, names: set[str] | None, calls: Sequence[str] | frozenset[str]) -> bool:
    """Whether a node is a call of one of these, with one of those names as first argument."""
    return (
        isinstance(node, ast.Call)
        and guards.last_name(node.func) in calls
        and bool(node.args)
        and (names is None or bool(names & _names(node.args[0])))
    )


def _tries_in(node: ast.AST, names: set[str] | None, calls: Sequence[str] | frozenset[str]) -> bool:
    return any(_tries(each, names, calls) for each in ast.walk(node))


def _names(node: ast.AST) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}


class _Sources:
    """What the names of a file are given, wherever: loops are followed to displays by it."""

    def __init__(self, everything: Sequence[ast.AST]) -> None:
        self.values: dict[str, list[ast.expr]] = {}
        """Name of a variable or an attribute → what is assigned to it."""
        self.calls: dict[str, list[ast.Call]] = {}
        """Last name of what is called → the calls."""
        for each in everything:
            if isinstance(each, ast.Call):
                self.calls.setdefault(guards.last_name(each.func), []).append(each)
            elif isinstance(each, ast.Assign):
                for target in each.targets:
                    self.values.setdefault(guards.last_name(target), []).append(each.value)
            elif isinstance(each, ast.AnnAssign) and each.value is not None:
                self.values.setdefault(guards.last_name(each.target), []).append(each.value)

    def displays(self, node: ast.expr, around: Sequence[ast.AST]) -> list[Span]:
        """The displays that an iterable may be."""
        found = []
        for each in self.shown(node, around):
            if isinstance(each, ast.Dict):
                found += [_span(each.values, each)] if each.values else []
            elif isinstance(each, ast.Call):
                found.append(_span(each.args, each))
            elif isinstance(each, (ast.List, ast.Tuple, ast.Set)) and len(each.elts) > 1:
                found.append(_span([each], each))
        return found

    def shown(self, node: ast.expr, around: Sequence[ast.AST], depth: int = 0) -> list[ast.expr]:
        """The expressions that a name, an attribute or an element stands for."""
        if depth > _FURTHEST:
            return []

        def further(inner: ast.expr) -> list[ast.expr]:
            return self.shown(inner, around, depth + 1)

        match node:
            case ast.List() | ast.Tuple() | ast.Set() | ast.Dict():
                return [node]
            case ast.Name(id=name):
                given = self.passed(name, around)
                if given is None:
                    given = [each for one in self.values.get(name, []) for each in further(one)]
                return given
            case ast.Attribute(attr=name):
                return [each for one in self.values.get(name, []) for each in further(one)]
            case ast.Subscript(value=inner):
                return _elements(further(inner))
            case ast.Call(func=ast.Attribute(value=inner, attr="get" | "pop")):
                return _elements(further(inner))
            case ast.Call(func=ast.Attribute(value=inner, attr="values" | "items")):
                return further(inner)
            case ast.Call(func=ast.Name(id=name), args=[inner, *_]) if name in _SAME_ELEMENTS:
                return further(inner)
            case ast.BoolOp(values=values):
                return [each for one in values for each in further(one)]
        return []

    def passed(self, name: str, around: Sequence[ast.AST]) -> list[ast.expr] | None:
        """What a parameter is given, or a loop's target runs over; None: it is neither."""
        for place, each in reversed(list(enumerate(around))):
            if isinstance(each, (ast.For, ast.AsyncFor)):
                if name in _names(each.target):
                    return _elements(self.shown(each.iter, around[:place], 1))
            elif isinstance(each, Definition):
                parameters = _parameters(each)
                if each.args.vararg is not None and each.args.vararg.arg == name:
                    return list(self.calls.get(each.name, []))
                if name not in [*parameters, *(arg.arg for arg in each.args.kwonlyargs)]:
                    continue
                given = []
                for call in self.calls.get(each.name, []):
                    given += [one.value for one in call.keywords if one.arg == name]
                    if name in parameters[: len(call.args)]:
                        given.append(call.args[parameters.index(name)])
                return [one for value in given for one in self.shown(value, [], 1)]
        return None


def _elements(shown: Iterable[ast.expr]) -> list[ast.expr]:
    """The displays among the elements of displays."""
    found: list[ast.expr] = []
    for each in shown:
        inner = each.values if isinstance(each, ast.Dict) else getattr(each, "elts", [])
        found += [one for one in inner if isinstance(one, (ast.List, ast.Tuple, ast.Set, ast.Dict))]
        # ("name", (NEW, OLD)): one of the elements of a row
        found += [
            part
            for one in inner
            if isinstance(one, ast.Tuple)
            for part in one.elts
            if isinstance(part, (ast.List, ast.Tuple))
        ]
    return found


def _parameters(function: Definition) -> list[str]:
    """The parameters of a function that a call may give by position; a method's own object not."""
    names = [each.arg for each in (*function.args.posonlyargs, *function.args.args)]
    return names[1:] if names[:1] in (["self"], ["cls"]) else names


def _span(parts: Sequence[ast.expr], place: ast.expr) -> Span:
    """From the beginning of an expression to the end of the last of its parts."""
    last = parts[-1] if parts else place
    return Span((place.lineno, place.col_offset), (last.end_lineno or 0, last.end_col_offset or 0))


# -- one helper call after the other ---------------------------------------------------------------


def _chosen(everything: Sequence[ast.AST]) -> dict[tuple[int, int], Span]:
    """``try_import(NEW) or try_import(OLD)``, where the helper catches that there is none."""
    helpers = {each.name for each in everything if isinstance(each, Definition) and _catches(each)}
    found: dict[tuple[int, int], Span] = {}
    for each in everything if helpers else ():
        if not isinstance(each, ast.BoolOp) or not isinstance(each.op, ast.Or):
            continue
        called = [
            one
            for one in each.values
            if isinstance(one, ast.Call) and guards.last_name(one.func) in helpers
        ]
        if len(called) > 1:
            found[(each.lineno, each.col_offset)] = _span(each.values, each)
    return found


def _catches(function: Definition) -> bool:
    """Whether a function imports what a parameter names, and catches that it is not there."""
    names = set(_parameters(function))
    return any(
        isinstance(part, ast.Try)
        and _goes_on(part)
        and any(_tries_in(each, names, _IMPORTERS) for each in part.body)
        for part in ast.walk(function)
    )


def _expression(statement: ast.stmt) -> ast.expr:
    return statement.value if isinstance(statement, ast.Expr) else ast.Name("")
