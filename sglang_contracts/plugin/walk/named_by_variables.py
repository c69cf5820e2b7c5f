"""Members and keys that code names by a variable: a parameter, a row of a table, a function.

``setattr(cls, name, fn)`` in a helper says nothing by itself. What it writes is told by the calls
of the helper, by the table that a loop goes over, or by the function that the helper decorates.
"""

from __future__ import annotations

import ast

from sglang_contracts.plugin.ir.nodes import UNKNOWN, Attr, Call, LocalFunction, OneOf, Param
from sglang_contracts.plugin.ir.records import Form, UseKind
from sglang_contracts.plugin.walk import call_arguments, dict_keys, string_constants
from sglang_contracts.plugin.walk.scope import IDENTIFIER, Rows
from sglang_contracts.plugin.walk.state import ByParameter, OwnCall, Walk


def named_by_parameter(
    walk: Walk, name: ast.expr, base: int, kind: UseKind, value: int = UNKNOWN
) -> None:
    """``getattr(cls, name)`` in a helper: what it reads is told where the helper is called."""
    if walk.quiet or not base:
        return
    of_name = isinstance(name, ast.Attribute) and name.attr == "__name__"
    if isinstance(name, ast.Attribute) and of_name:
        name = name.value
    if not isinstance(name, ast.Name):
        return
    held = walk.nodes.table[walk.expr(name)]
    if type(held) is Param:
        sure = walk.guard == walk.file.functions[held.function].guard
        if kind is UseKind.ITEM and not sure:
            return
        kind = kind if sure else UseKind.PROBE
        walk.by_parameter.append(
            ByParameter(held.function, base, held.position, kind, value, name, of_name)
        )


def own_call(walk: Walk, node: ast.Call, callee: int, form: int) -> None:
    """Remember a call of a function of this file, with the strings and tables it is given."""
    held = walk.nodes.table[callee]
    if walk.quiet or type(held) is not LocalFunction:
        return
    texts: dict[int | str, list[str]] = {}
    tables: dict[int | str, dict[str, int]] = {}
    given: list[tuple[int | str, ast.expr]] = list(enumerate(node.args))
    given += [(each.arg, each.value) for each in node.keywords if each.arg]
    for place, arg in given:
        texts[place] = string_constants.texts(walk, arg)
        shown = string_constants.display(walk, arg)
        table = dict_keys.keys_of(walk, shown if isinstance(shown, ast.Dict) else arg)
        if table:
            tables[place] = table
    told = tables or node.keywords or any(each != ["*"] for each in texts.values())
    if told or id(node) in walk.decorators:
        walk.own_calls.append(
            OwnCall(held.function, form, texts, tables, node, walk.guard, walk.scope.function)
        )


# -- rows of a table -------------------------------------------------------------------------------


def rows_of_display(walk: Walk, target: ast.expr, rows: list[list[ast.expr]]) -> None:
    """A loop over rows that are shown: which names belong together."""
    names = target_names(target)
    forget(walk, names)
    if names and rows and all(len(each) == len(names) for each in rows):
        walk.scope.rows.append(Rows(tuple(names), rows))


def rows_of_parameter(walk: Walk, target: ast.expr, mapping: ast.expr) -> None:
    """``for name, fn in methods.items()``, where ``methods`` is a parameter."""
    names = target_names(target)
    forget(walk, names)
    function = walk.scope.function
    if len(names) != 2 or not isinstance(mapping, ast.Name) or function < 0:
        return
    for position, each in enumerate(walk.file.functions[function].parameters):
        if each.name == mapping.id and each.kind != 2:
            walk.scope.rows.append(Rows(tuple(names), [], function, position))


def target_names(target: ast.expr) -> list[str]:
    """The names of a loop's several targets; none where one is no name."""
    if not isinstance(target, (ast.Tuple, ast.List)):
        return []
    names = [each.id for each in target.elts if isinstance(each, ast.Name)]
    return names if len(names) == len(target.elts) else []


def forget(walk: Walk, names: list[str]) -> None:
    """Names that are bound anew belong to no rows any more."""
    walk.scope.rows = [each for each in walk.scope.rows if not set(each.names) & set(names)]


def set_by_rows(walk: Walk, node: ast.Call, base: int) -> bool:
    """``setattr(cls, name, fn)`` where one table tells both: whether it is written so."""
    _, named, value = node.args
    if isinstance(named, ast.Attribute) and named.attr == "__name__":
        return _set_by_name(walk, node, base, named.value, value)
    if not isinstance(named, ast.Name) or not isinstance(value, ast.Name):
        return False
    for each in walk.scope.rows:
        if named.id not in each.names or value.id not in each.names:
            continue
        if each.function >= 0:
            if base and not walk.quiet:
                walk.by_parameter.append(
                    ByParameter(
                        each.function, base, each.position, UseKind.WRITE, where=node, table=True
                    )
                )
            return True
        for row in each.rows:
            by_name = dict(zip(each.names, row, strict=True))
            with walk.silently():
                written = walk.expr(by_name[value.id])
                of = by_name.get(getattr(node.args[0], "id", ""))
                holder = walk.expr(of) if of is not None else base
            for text in string_constants.texts(walk, by_name[named.id]):
                _write(walk, node, holder, text, written)
        return True
    return False


def _set_by_name(walk: Walk, node: ast.Call, base: int, named: ast.expr, value: ast.expr) -> bool:
    """``setattr(cls, fn.__name__, fn)``."""
    with walk.silently():
        function, written = walk.expr(named), walk.expr(value)
    held = walk.nodes.table[function]
    each = held.values if type(held) is OneOf else (function,)
    names = [own_name(walk, one) for one in each]
    if not all(names):
        return False
    for one, name in zip(each, names, strict=True):
        _write(walk, node, base, name, one if written == function else written)
    return True


def own_name(walk: Walk, node: int) -> str:
    """The name of a function of this file; empty for anything else."""
    held = walk.nodes.table[node]
    if type(held) is not LocalFunction:
        return ""
    return walk.file.functions[held.function].qual.rsplit(".", 1)[-1]


def _write(walk: Walk, where: ast.AST, base: int, name: str, value: int) -> None:
    if base and IDENTIFIER.match(name):
        walk.mention(name)
        walk.defined.add(name)
        walk.use(UseKind.WRITE, walk.nodes.add(Attr(base, name)), where, value=value)


# -- calls of helpers ------------------------------------------------------------------------------


def finish(walk: Walk) -> None:
    """Tell what helpers read and set, when all their calls are known."""
    for call in walk.own_calls:
        _through(walk, call)
    for each in walk.decorated:
        _applied(walk, each.value, each.function, each.decorator, each.guard)
    for by in walk.by_parameter:
        if by.table and by not in walk.told_tables and by.where is not None:
            line = getattr(by.where, "lineno", 1)
            walk.file.computed.append((by.base, line))
        default = walk.defaults.get((by.function, by.position))
        if default is not None and by.where is not None and not by.of_name:
            walk.guard = walk.file.functions[by.function].guard
            walk.scope.function = by.function
            _tell(walk, by, by.base, default, by.value, by.where)


def _applied(walk: Walk, decorator: int, function: int, where: ast.AST, guard: int) -> None:
    """A decorator of this file is called with the function that it stands over."""
    made = walk.nodes.table[decorator]
    outer = None
    if type(made) is Call:  # ``@patches(Class)``: what it returns is
        outer = next((each for each in walk.own_calls if each.where is where), None)
        if outer is None:
            return
        returns = walk.file.functions[outer.function].returns
        made = walk.nodes.table[returns[0]] if len(returns) == 1 else made
    if type(made) is not LocalFunction:
        return
    form = call_arguments.keep_form(walk, Form([function], [""]))
    call = OwnCall(made.function, form, {}, {}, where, guard, -1, outer)
    _through(walk, call)


def _through(walk: Walk, call: OwnCall) -> None:
    """What a helper reads or sets by the name that it is given, at the call that gives it."""
    for each in walk.by_parameter:
        by = call
        if each.function != call.function:
            if call.outer is None or each.function != call.outer.function:
                continue
            by = call.outer
        base, value = given(walk, call, each.base), given(walk, call, each.value)
        walk.scope.function, walk.guard = call.caller, call.guard
        parameter = walk.file.functions[by.function].parameters[each.position]
        if each.table:
            table = by.tables.get(each.position, by.tables.get(parameter.name, {}))
            if parameter.kind == 4:
                table = rest(walk, by)
            if table:
                walk.told_tables.append(each)
            for text, held in table.items():
                _write(walk, call.where, base, text, held)
            continue
        texts = by.texts.get(each.position, by.texts.get(parameter.name, ["*"]))
        if each.of_name:
            texts = [own_name(walk, argument(walk, by, each.position)) or "*"]
        for text in texts:
            _tell(walk, each, base, text, value, call.where)


def rest(walk: Walk, call: OwnCall) -> dict[str, int]:
    """The keywords of a call that no parameter of its own takes."""
    own = {each.name for each in walk.file.functions[call.function].parameters if each.kind != 4}
    keywords = walk.file.forms[call.form].keywords
    return {name: value for name, value in keywords.items() if name not in own}


def _tell(walk: Walk, by: ByParameter, base: int, text: str, value: int, where: ast.AST) -> None:
    """One use, by its name."""
    if not base or text == "*":
        return
    if by.kind is UseKind.ITEM:
        walk.use(by.kind, base, where, name=text)
    elif IDENTIFIER.match(text):
        kind = "get" if by.kind is UseKind.PROBE else ""
        walk.use(by.kind, walk.nodes.add(Attr(base, text)), where, name=kind, value=value)


def given(walk: Walk, call: OwnCall, node: int) -> int:
    """A value in a helper; of a parameter, what the call gives."""
    held = walk.nodes.table[node]
    for each in (call, call.outer):
        if each is not None and type(held) is Param and held.function == each.function:
            return argument(walk, each, held.position)
    return node


def argument(walk: Walk, call: OwnCall, position: int) -> int:
    """What a call gives for a parameter."""
    form = walk.file.forms[call.form]
    if position < len(form.positional):
        return form.positional[position]
    parameter = walk.file.functions[call.function].parameters[position]
    return form.keywords.get(parameter.name, UNKNOWN)
