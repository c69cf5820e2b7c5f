"""A ``def`` → its record: signature, what kind it is, what its returns tell."""

from __future__ import annotations

import ast

from sglang_contracts.surface import expression
from sglang_contracts.surface.conditions import ALWAYS
from sglang_contracts.surface.model import Condition, Function, Parameter, ParameterKind, Role
from sglang_contracts.surface.walk import child_fields

DEFAULT_LIMIT = 80
"""Characters kept of a default, or of the value of a class attribute."""
VALUE_LIMIT = 160
"""Characters kept of a decorator, a module-level value, a returned expression."""
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
OVERLOAD = {"overload", "typing.overload"}

_PROPERTY = {"property", "cached_property", "functools.cached_property", "abc.abstractproperty"}
_ABSTRACT = {"abstractmethod", "abc.abstractmethod", "abstractproperty", "abc.abstractproperty"}
_CONTEXT = {"contextmanager", "contextlib.contextmanager", "asynccontextmanager"}
_SILENT = {"override", "typing.override", "final", "typing.final", "staticmethod", "classmethod"}


def read_function(
    node: ast.FunctionDef | ast.AsyncFunctionDef, condition: Condition = ALWAYS
) -> Function:
    """Read a ``def``: signature, what kind it is, what its returns tell."""
    role = Role(0)
    decorators = []
    for decorator in node.decorator_list:
        written = expression.text(decorator, VALUE_LIMIT)
        called = written.partition("(")[0]
        if called == "staticmethod":
            role |= Role.STATIC
        elif called == "classmethod":
            role |= Role.CLASS
        elif called in _PROPERTY or called.endswith(("_property", "lazy_attribute")):
            role |= Role.PROPERTY
        if called in _ABSTRACT:
            role |= Role.ABSTRACT
        elif called in _CONTEXT:
            role |= Role.CONTEXT_MANAGER
        elif called not in _PROPERTY and called not in _SILENT:
            decorators.append(written)
    if isinstance(node, ast.AsyncFunctionDef):
        role |= Role.ASYNC
    returns = expression.text(node.returns)
    body = node.body
    document = ""
    if (
        isinstance(body[0], ast.Expr)
        and isinstance(body[0].value, ast.Constant)
        and isinstance(body[0].value.value, str)
    ):
        document = body[0].value.value
        body = body[1:]
    if "[Planned]" in document:
        role |= Role.PLANNED
    shape, message = _body_role(body, returns)
    role |= shape
    arities, result, generator, self_reads, self_calls, self_writes = _inside(node)
    if generator:
        role |= Role.GENERATOR
    return Function(
        parameters=read_parameters(node.args),
        returns=returns,
        role=role,
        condition=condition,
        decorators=tuple(decorators),
        arities=arities,
        result=result,
        message=message,
        reads=self_reads,
        calls=self_calls,
        writes=self_writes,
    )


def read_parameters(arguments: ast.arguments) -> tuple[Parameter, ...]:
    """The parameters of a ``def`` or ``lambda``, in order."""
    positional = [*arguments.posonlyargs, *arguments.args]
    defaults: list[ast.expr | None] = [None] * (len(positional) - len(arguments.defaults))
    defaults += arguments.defaults
    out = []
    for index, (argument, default) in enumerate(zip(positional, defaults, strict=True)):
        kind = ParameterKind.POSITIONAL
        if index < len(arguments.posonlyargs):
            kind = ParameterKind.POSITIONAL_ONLY
        out.append(_parameter(argument, kind, default))
    if arguments.vararg:
        out.append(_parameter(arguments.vararg, ParameterKind.VAR_POSITIONAL, None))
    for argument, keyword_default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        out.append(_parameter(argument, ParameterKind.KEYWORD_ONLY, keyword_default))
    if arguments.kwarg:
        out.append(_parameter(arguments.kwarg, ParameterKind.VAR_KEYWORD, None))
    return tuple(out)


def _parameter(argument: ast.arg, kind: ParameterKind, default: ast.expr | None) -> Parameter:
    return Parameter(
        argument.arg,
        kind,
        expression.text(argument.annotation),
        expression.text(default, DEFAULT_LIMIT),
    )


def _body_role(body: list[ast.stmt], returns: str) -> tuple[Role, str]:
    if returns.rpartition(".")[2].strip("'\"") in ("NoReturn", "Never"):
        return Role.RETIRED, _raised(body)
    if not body or all(
        isinstance(node, ast.Pass)
        or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
        for node in body
    ):
        return Role.EMPTY, ""
    if len(body) == 1 and isinstance(body[0], ast.Raise):
        raised = expression.text(body[0].exc, VALUE_LIMIT)
        if raised.startswith("NotImplementedError"):
            return Role.UNIMPLEMENTED, ""
        return Role.RETIRED, _raised(body)
    return Role(0), ""


def _raised(body: list[ast.stmt]) -> str:
    """The text of the last ``raise`` in a body: the literal parts of its message."""
    for node in reversed(body):
        if isinstance(node, ast.Raise) and node.exc is not None:
            parts = [
                inner.value
                for inner in ast.walk(node.exc)
                if isinstance(inner, ast.Constant) and isinstance(inner.value, str)
            ]
            return " ".join(parts)[:300]
    return ""


def _inside(
    node: ast.FunctionDef | ast.AsyncFunctionDef,
) -> tuple[tuple[int, ...], str, bool, tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """Returns, ``yield`` and what is used of ``self`` (closures included for the latter)."""
    arguments = [*node.args.posonlyargs, *node.args.args]
    owner = arguments[0].arg if arguments and arguments[0].arg in ("self", "cls") else ""
    arities: set[int] = set()
    results: list[ast.expr | None] = []
    generator = False
    reads: set[str] = set()
    calls: set[str] = set()
    writes: set[str] = set()
    stack: list[tuple[ast.AST, bool]] = [(child, True) for child in node.body]
    while stack:
        inner, own = stack.pop()
        kind = inner.__class__
        if kind is ast.Attribute:
            value = inner.value  # type: ignore[attr-defined]
            if value.__class__ is ast.Name:
                if value.id == owner:
                    context = inner.ctx.__class__  # type: ignore[attr-defined]
                    if context is ast.Load:
                        reads.add(inner.attr)  # type: ignore[attr-defined]
                    elif context is ast.Store:
                        writes.add(inner.attr)  # type: ignore[attr-defined]
                continue
        elif kind is ast.Return:
            if own:
                value = inner.value  # type: ignore[attr-defined]
                results.append(value)
                if value is None or (value.__class__ is ast.Constant and value.value is None):
                    arities.add(-1)
                elif value.__class__ is ast.Tuple and not any(
                    element.__class__ is ast.Starred for element in value.elts
                ):
                    arities.add(len(value.elts))
                else:
                    arities.add(0)
        elif kind is ast.Yield or kind is ast.YieldFrom:
            generator = generator or own
        elif kind is ast.Call:
            function = inner.func  # type: ignore[attr-defined]
            if (
                owner
                and function.__class__ is ast.Attribute
                and function.value.__class__ is ast.Name
                and function.value.id == owner
            ):
                calls.add(function.attr)
        elif kind is ast.FunctionDef or kind is ast.AsyncFunctionDef or kind is ast.Lambda:
            own = False
        elif kind is ast.ClassDef:
            continue
        for field in child_fields(kind):
            child = getattr(inner, field, None)
            if child.__class__ is list:
                stack += [(each, own) for each in child if each is not None]
            elif child is not None:
                stack.append((child, own))
    result = ""
    if len(results) == 1 and results[0] is not None:
        written = expression.text(results[0])
        result = written if len(written) <= VALUE_LIMIT else ""
    reads -= calls
    return (
        tuple(sorted(arities)),
        result,
        generator,
        tuple(sorted(reads)),
        tuple(sorted(calls)),
        tuple(sorted(writes)),
    )


def annotated(node: ast.expr) -> str:
    """Text of an annotation; ``A[T, …]``/``Annotated[T, …]`` is ``T``."""
    if (
        isinstance(node, ast.Subscript)
        and isinstance(node.slice, ast.Tuple)
        and node.slice.elts
        and expression.text(node.value).rpartition(".")[2] in ("A", "Annotated")
    ):
        return expression.text(node.slice.elts[0])
    return expression.text(node)


def decorated(node: ast.FunctionDef | ast.AsyncFunctionDef, names: set[str]) -> bool:
    """Whether it has a decorator of one of these names."""
    return any(expression.text(each).partition("(")[0] in names for each in node.decorator_list)
