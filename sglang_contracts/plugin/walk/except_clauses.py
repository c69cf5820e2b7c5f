"""What makes code conditional, and whether the other branch is a way out.

A way out binds the same name to something equivalent or takes an equivalent path. ``pass``,
``continue``, a log line or a flag is none: the feature silently turns off.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from weakref import WeakKeyDictionary

_LOG_RECEIVERS = frozenset({"logger", "logging", "log", "_logger", "LOGGER", "LOG", "warnings"})
_LOG_METHODS = frozenset(
    {"debug", "info", "warning", "warn", "error", "exception", "critical", "log", "print"}
)
_EVERYTHING = frozenset({"Exception", "BaseException", "*"})

IMPORT_ERRORS = frozenset({"ImportError", "ModuleNotFoundError"}) | _EVERYTHING
ATTRIBUTE_ERRORS = frozenset({"AttributeError"}) | _EVERYTHING
CALL_ERRORS = frozenset({"TypeError"}) | _EVERYTHING
KEY_ERRORS = frozenset({"KeyError", "LookupError"}) | _EVERYTHING
LISTED_ERRORS = frozenset({"ValueError"}) | KEY_ERRORS
"""What ``remove`` and ``index`` of lists, tuples and sets fail with."""
UNPACK_ERRORS = frozenset({"ValueError", "TypeError"}) | _EVERYTHING


def caught(handler: ast.expr | None) -> list[str]:
    """Last names of the exceptions a handler names; ``*`` for a bare ``except``."""
    if handler is None:
        return ["*"]
    each = handler.elts if isinstance(handler, ast.Tuple) else [handler]
    return [last_name(one) or "?" for one in each]


def last_name(node: ast.expr) -> str:
    """``c`` of ``a.b.c``; empty where there is none."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def is_answer(body: Sequence[ast.stmt]) -> bool:
    """Whether a branch only answers yes or no: whoever asked decides what is done then."""
    match list(body[:1]):
        case [ast.Return(value=ast.Constant(value=bool()))]:
            return True
    return False


def names_in(*annotations: ast.expr | None) -> set[str]:
    """The names that stand in annotations, quoted ones as well."""
    found: set[str] = set()
    for annotation in annotations:
        for part in ast.walk(annotation) if annotation is not None else ():
            if isinstance(part, ast.Name):
                found.add(part.id)
            elif isinstance(part, ast.Attribute):
                found.add(part.attr)
            elif isinstance(part, ast.Constant) and isinstance(part.value, str):
                found.update(re.findall(r"[A-Za-z_]\w*", part.value))
    return found


def is_log(node: ast.expr) -> bool:
    """Whether an expression statement only tells someone."""
    if not isinstance(node, ast.Call):
        return isinstance(node, ast.Constant)
    func = node.func
    if isinstance(func, ast.Name):
        return func.id in {"print", "warn"} or "log" in func.id.lower()
    if isinstance(func, ast.Attribute):
        receiver = last_name(func.value)
        return func.attr in _LOG_METHODS and (
            receiver in _LOG_RECEIVERS or "log" in receiver.lower() or func.attr != "log"
        )
    return False


def is_flag(node: ast.expr | None) -> bool:
    """A value that stands for nothing: None, a boolean, an empty display, an exception kept."""
    if node is None:
        return True
    if isinstance(node, ast.Constant):
        return node.value is None or isinstance(node.value, bool) or node.value in ("", 0)
    if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
        return all(is_flag(each) for each in node.elts)
    if isinstance(node, ast.Dict):
        return not node.keys
    if isinstance(node, ast.Name):
        return node.id in {"e", "err", "exc", "error", "ex", "_e", "_err", "object"}
    if isinstance(node, ast.Call):
        name = last_name(node.func)
        return name in {"str", "repr", "type"} or is_log(node)
    return isinstance(node, ast.JoinedStr)


def raises(body: Sequence[ast.stmt]) -> bool:
    """Whether a branch ends in a ``raise`` (or an exit) whatever happens."""
    if not body:
        return False
    last = body[-1]
    if isinstance(last, ast.Raise):
        return True
    if isinstance(last, ast.If):
        return raises(last.body) and raises(last.orelse)
    if isinstance(last, ast.Expr) and isinstance(last.value, ast.Call):
        func = last.value.func
        name = ast.unparse(func)
        return name in {"sys.exit", "exit", "quit", "os._exit", "pytest.skip"}
    return False


def leaves(body: Sequence[ast.stmt]) -> bool:
    """Whether what follows a branch runs only if the branch was not taken."""
    if not body:
        return False
    last = body[-1]
    if isinstance(last, (ast.Return, ast.Raise, ast.Continue, ast.Break)):
        return True
    if isinstance(last, ast.If):
        return leaves(last.body) and leaves(last.orelse)
    if isinstance(last, ast.Try):
        return leaves(last.finalbody) or (
            leaves(last.orelse or last.body) and all(leaves(h.body) for h in last.handlers)
        )
    return raises(body)


def binds(body: Sequence[ast.stmt]) -> set[str]:
    """Names that a branch binds, whatever happens in it."""
    found: set[str] = set()
    for statement in body:
        match statement:
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                found |= {each.asname or each.name.partition(".")[0] for each in names}
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                found.add(name)
            case ast.AsyncFunctionDef(name=name):
                found.add(name)
            case ast.Assign(targets=targets):
                found |= {each.id for each in targets if isinstance(each, ast.Name)}
            case ast.AnnAssign(target=ast.Name(id=name), value=value) if value is not None:
                found.add(name)
    return found


def leaves_out(body: Sequence[ast.stmt], other: Sequence[ast.stmt]) -> bool:
    """Whether one branch gives a mapping and the other an empty one: keywords are left out."""
    one, two = (
        block[-1].value if block and isinstance(block[-1], ast.Return) else None
        for block in (body, other)
    )
    return isinstance(one, ast.Dict) and isinstance(two, ast.Dict)


def fills(body: Sequence[ast.stmt]) -> bool:
    """Whether a branch only adds to a list or a dict: the other one gives fewer arguments."""
    for statement in body:
        match statement:
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(), attr=method))):
                if method not in ("append", "extend", "update", "setdefault"):
                    return False
            case ast.Assign(targets=[ast.Subscript(value=ast.Name(), slice=ast.Constant())]):
                pass
            case _:
                return False
    return bool(body)


def stands_in(attempt: ast.Try) -> bool:
    """Whether an attempt is a ``getattr`` with a default, written out.

    Its body is one statement; each handler is for a missing attribute and gives another value for
    the same.
    """
    if len(attempt.body) != 1 or attempt.orelse or attempt.finalbody:
        return False
    body = attempt.body[0]
    for handler in attempt.handlers:
        names = caught(handler.type)
        if "AttributeError" not in names or _EVERYTHING.intersection(names):
            return False
        match body, handler.body:
            case ast.Return(value=ast.Attribute()), [ast.Return()]:
                pass
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=ast.Attribute()),
                [ast.Assign(targets=[ast.Name(id=other)])],
            ) if name == other:
                pass
            case _:
                return False
    return True


def is_way_out(body: Sequence[ast.stmt]) -> bool:
    """Whether a branch does something equivalent rather than nothing."""
    for statement in body:
        match statement:
            case ast.Import() | ast.ImportFrom() | ast.FunctionDef() | ast.ClassDef():
                return True
            case ast.AsyncFunctionDef():
                return True
            case ast.Assign(value=value):
                if not is_flag(value):
                    return True
            case ast.AnnAssign(value=value) if value is not None:
                if not is_flag(value):
                    return True
            case ast.AugAssign():
                return True
            case ast.Return(value=value):
                if not is_flag(value):
                    return True
            case ast.Expr(value=ast.Call() as call):
                if not is_log(call):
                    return True
            case ast.Expr(value=ast.Yield() | ast.YieldFrom() | ast.Await()):
                return True
            case ast.If():
                if _is_branch_way_out(statement):
                    return True
            case ast.For(body=inner) | ast.While(body=inner) | ast.With(body=inner):
                if is_way_out(inner):
                    return True
            case ast.AsyncFor(body=inner) | ast.AsyncWith(body=inner):
                if is_way_out(inner):
                    return True
            case ast.Try(body=inner, handlers=handlers):
                if is_way_out(inner) or any(is_way_out(h.body) for h in handlers):
                    return True
            case _:
                pass
    return False


_BRANCHES: WeakKeyDictionary[ast.If, bool] = WeakKeyDictionary()
"""What was found of an ``if``: in a chain of ``elif`` each is asked again by all before it."""


def _is_branch_way_out(branch: ast.If) -> bool:
    held = _BRANCHES.get(branch)
    if held is None:
        held = is_way_out(branch.body) or is_way_out(branch.orelse)
        _BRANCHES[branch] = held
    return held
