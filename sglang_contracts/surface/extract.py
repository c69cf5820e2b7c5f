"""One ``.py`` file's source → :class:`~sglang_contracts.surface.model.Module`, by ``ast`` alone.

Two passes over one tree, sharing what they can: :class:`_Scope` reads definitions (what the module
*offers*), :class:`_Facts` reads the bodies (what it *calls* and *reads*: the other side of each
contract). Nothing is imported, nothing evaluated.
"""

from __future__ import annotations

import ast
import itertools
import re
import warnings
from collections.abc import Iterable, Iterator

import msgspec

from sglang_contracts.surface import expression
from sglang_contracts.surface.facts import Facts
from sglang_contracts.surface.model import (
    Attribute,
    Class,
    Condition,
    Function,
    Import,
    Kind,
    Module,
    Parameter,
    ParameterKind,
    Role,
    Usage,
    Value,
)
from sglang_contracts.surface.walk import child_fields

_DEFAULT_LIMIT = 80
_VALUE_LIMIT = 160
_KEYS_LIMIT = 2000

_PROPERTY = {"property", "cached_property", "functools.cached_property", "abc.abstractproperty"}
_ABSTRACT = {"abstractmethod", "abc.abstractmethod", "abstractproperty", "abc.abstractproperty"}
_CONTEXT = {"contextmanager", "contextlib.contextmanager", "asynccontextmanager"}
_SILENT = {"override", "typing.override", "final", "typing.final", "staticmethod", "classmethod"}
_REGISTERING = {"register_buffer", "register_parameter", "add_module", "register_module"}
_OVERLOAD = {"overload", "typing.overload"}
_BASE_KINDS = {
    "Enum": Kind.ENUM,
    "IntEnum": Kind.ENUM,
    "StrEnum": Kind.ENUM,
    "Flag": Kind.ENUM,
    "IntFlag": Kind.ENUM,
    "NamedTuple": Kind.NAMEDTUPLE,
    "TypedDict": Kind.TYPED_DICT,
    "BaseModel": Kind.PYDANTIC,
    "Struct": Kind.STRUCT,
    "ABC": Kind.ABC,
    "Protocol": Kind.PROTOCOL,
}

_ALWAYS = Condition(0)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def extract(source: bytes, name: str, *, package: bool) -> tuple[Module, Usage]:
    """Read one module.

    Args:
        source: The file's bytes, in whatever encoding it declares.
        name: The module's absolute name.
        package: Whether the file is an ``__init__.py``.

    Returns:
        What the module offers, and what it uses. Where the running Python cannot parse all of it,
        what it can, with :attr:`Module.problem` saying why.
    """
    body, problem = _parse(source)
    try:
        scope, facts = _read(body, name, package)
    except RecursionError:  # an expression that Python parses and yet is deeper than its stack
        problem = "RecursionError: nested too deeply"
        scope, facts = _read_what_can_be(body, name, package)
    mentioned = _mentioned(scope)
    for local_name, target in sorted(facts.local_imports.items()):
        if local_name in mentioned:
            scope.imports.setdefault(local_name, target)
    module = Module(
        package=package,
        classes=scope.classes,
        functions=scope.functions,
        values=scope.values,
        imports=scope.imports,
        stars=tuple(dict.fromkeys(scope.stars)),
        exports=None if scope.exports is None else tuple(dict.fromkeys(scope.exports)),
        lazy=scope.lazy,
        problem=problem,
    )
    return module, facts.usage()


def _read(body: list[ast.stmt], name: str, package: bool) -> tuple[_Scope, Facts]:
    scope = _Scope(name, package)
    scope.read(body)
    facts = Facts(scope.imports, scope.absolute)
    facts.read(body)
    return scope, facts


def _read_what_can_be(body: list[ast.stmt], name: str, package: bool) -> tuple[_Scope, Facts]:
    """The same without the statements that are nested too deeply."""
    kept = []
    for statement in body:
        try:
            _read([statement], name, package)
        except RecursionError:
            continue
        kept.append(statement)
    return _read(kept, name, package)


_WORD = re.compile(r"[A-Za-z_]\w*")


def _mentioned(scope: _Scope) -> set[str]:
    """Names in the texts that tell a type: only for those is a function's own import of use."""
    texts = []
    for function in scope.functions.values():
        texts += [function.returns, function.result]
    classes = list(scope.classes.values())
    while classes:
        each = classes.pop()
        classes += each.classes.values()
        texts += [attribute.annotation for attribute in each.attributes.values()]
        texts += [attribute.value for attribute in each.attributes.values() if attribute.on_self]
        for function in each.methods.values():
            texts += [function.returns, function.result]
    return set(_WORD.findall(" ".join(texts)))


def _parse(source: bytes) -> tuple[list[ast.stmt], str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # invalid escapes in upstream's strings are not our news
        try:
            return ast.parse(source).body, ""
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            problem = f"{type(error).__name__}: {getattr(error, 'msg', None) or error}"
        body: list[ast.stmt] = []
        for first_line, chunk in _statements(source.decode("utf-8", "replace")):
            try:
                parsed = ast.parse(chunk)
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                continue
            ast.increment_lineno(parsed, first_line - 1)
            body += parsed.body
        return body, problem


def _statements(source: str) -> Iterator[tuple[int, str]]:
    """Top-level chunks: each starts at a line that begins in column 0 with a word or decorator."""
    lines = source.splitlines(keepends=True)
    starts = [
        number
        for number, line in enumerate(lines)
        if re.match(r"[A-Za-z_@]", line)
        and not re.match(r"(else|elif|except|finally)\b", line)
        and not (number and lines[number - 1].startswith("@"))
    ]
    for start, end in itertools.pairwise([*starts, len(lines)]):
        yield start + 1, "".join(lines[start:end])


class _Scope:
    """What a module offers: its definitions, with the condition each stands under."""

    def __init__(self, name: str, package: bool) -> None:
        self.name = name
        self.parent = name if package else name.rpartition(".")[0]
        self.classes: dict[str, Class] = {}
        self.functions: dict[str, Function] = {}
        self.values: dict[str, Value] = {}
        self.imports: dict[str, Import] = {}
        self.stars: list[str] = []
        self.exports: list[str] | None = None
        self.lazy: tuple[str, ...] | None = None
        self._tables: dict[str, dict[str, Import]] = {}

    def absolute(self, node: ast.ImportFrom) -> str:
        """The absolute module an import names; relative ones against this module's package."""
        if not node.level:
            return node.module or ""
        parts = self.parent.split(".")
        parent = ".".join(parts[: len(parts) - node.level + 1])
        return f"{parent}.{node.module}" if node.module else parent

    def read(self, body: list[ast.stmt]) -> None:
        """Read a module body."""
        for statement, condition in conditional(body):
            self._statement(statement, condition)

    def _statement(self, node: ast.stmt, condition: Condition) -> None:
        if isinstance(node, ast.Import):
            for alias in node.names:
                bound = alias.asname or alias.name.partition(".")[0]
                module = alias.name if alias.asname else bound
                self.imports.setdefault(bound, Import(module, "", condition))
        elif isinstance(node, ast.ImportFrom):
            self._import_from(node, condition)
        elif isinstance(node, ast.ClassDef):
            self._define(self.classes, node.name, read_class(node, condition))
        elif isinstance(node, _FUNCTIONS):
            if node.name == "__getattr__":
                self._lazy(node)
            elif not _decorated(node, _OVERLOAD):
                self._define(self.functions, node.name, read_function(node, condition))
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                for each, value in _pairs(target, node.value):
                    self._assign(each, "", value, condition, node.lineno)
        elif isinstance(node, ast.AnnAssign):
            annotation = expression.text(node.annotation)
            self._assign(node.target, annotation, node.value, condition, node.lineno)
        elif isinstance(node, ast.AugAssign):
            if isinstance(node.target, ast.Name) and node.target.id == "__all__":
                more = _strings(node.value)
                self.exports = None if more is None else [*(self.exports or ()), *more]
        elif isinstance(node, ast.Delete):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    self._forget(target.id)

    def _import_from(self, node: ast.ImportFrom, condition: Condition) -> None:
        module = self.absolute(node)
        for alias in node.names:
            if alias.name == "*":
                self.stars.append(module)
                continue
            bound = alias.asname or alias.name
            known = self.imports.get(bound)
            if known is None or known.condition & Condition.TYPE_CHECKING:
                self.imports[bound] = Import(module, alias.name, condition)

    def _define(self, table: dict, name: str, new: Class | Function) -> None:  # type: ignore[type-arg]
        old = table.get(name)
        if old is None:
            table[name] = new
            return
        # The last unconditional definition wins, as at run time; of alternatives the first stays.
        if not new.condition:
            table[name] = new
        else:
            table[name] = msgspec.structs.replace(old, condition=old.condition | Condition.SEVERAL)

    def _forget(self, name: str) -> None:
        for table in (self.classes, self.functions, self.values, self.imports):
            table.pop(name, None)

    def _assign(
        self,
        target: ast.expr,
        annotation: str,
        value: ast.expr | None,
        condition: Condition,
        line: int,
    ) -> None:
        if isinstance(target, ast.Subscript):
            self._module_alias(target, value)
            return
        if not isinstance(target, ast.Name):
            return
        if target.id == "__all__":
            self.exports = _strings(value) if value is not None else None
            return
        imported = _lazy_import(value)
        if imported is not None:
            self.imports.setdefault(target.id, imported)
            return
        if isinstance(value, ast.Dict):
            self._tables[target.id] = _import_table(value, self.name)
        new = Value(
            annotation,
            expression.text(value, _VALUE_LIMIT),
            _keys(value),
            condition,
            line,
        )
        old = self.values.get(target.id)
        if old is None or (not condition and old.value in ("", "None")):
            self.values[target.id] = new
        elif old.keys or not new.keys:
            pass
        else:
            self.values[target.id] = new

    def _module_alias(self, target: ast.Subscript, value: ast.expr | None) -> None:
        """``sys.modules[__name__] = other``: the module becomes something else."""
        written = expression.text(target)
        if written != "sys.modules[__name__]" or value is None:
            return
        if isinstance(value, ast.Name) and value.id in self.imports:
            found = self.imports[value.id]
            self.stars.append(f"{found.module}.{found.name}" if found.name else found.module)
        elif (
            isinstance(value, ast.Call)
            and expression.text(value.func).endswith("import_module")
            and value.args
            and isinstance(value.args[0], ast.Constant)
        ):
            self.stars.append(str(value.args[0].value))
        self.lazy = ()

    def _lazy(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        """What a module-level ``__getattr__`` gives: the names it compares with or looks up."""
        if not node.args.args:
            return
        parameter = node.args.args[0].arg
        names: set[str] = set()
        known = True
        for inner in ast.walk(node):
            if isinstance(inner, ast.Compare) and expression.text(inner.left) == parameter:
                for operator, right in zip(inner.ops, inner.comparators, strict=True):
                    if not isinstance(operator, (ast.Eq, ast.In)):
                        continue
                    found = self._names_in(right)
                    known = known and found is not None
                    names.update(found or ())
            elif isinstance(inner, (ast.Subscript, ast.Call)):
                table = _looked_up(inner, parameter)
                if table and table != "globals()":
                    found = self._names_in(ast.Name(table))
                    known = known and found is not None
                    names.update(found or ())
            elif isinstance(inner, ast.ImportFrom):
                module = self.absolute(inner)
                for alias in inner.names:
                    target = Import(module, alias.name, Condition(0), local=True)
                    self.imports.setdefault(alias.asname or alias.name, target)
        self.lazy = tuple(sorted(names)) if known and names else ()
        for name in self.lazy:
            for table_imports in self._tables.values():
                if name in table_imports:
                    self.imports.setdefault(name, table_imports[name])

    def _names_in(self, node: ast.expr) -> list[str] | None:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return [node.value]
        if isinstance(node, ast.Name):
            value = self.values.get(node.id)
            if value is not None and value.keys:
                return list(value.keys)
            return self.exports if node.id == "__all__" else None
        return _strings(node)


def conditional(
    body: Iterable[ast.stmt], condition: Condition = _ALWAYS
) -> Iterator[tuple[ast.stmt, Condition]]:
    """Statements of a body and of the blocks in it (not of functions), each with its condition."""
    for node in body:
        if isinstance(node, ast.If):
            test = expression.text(node.test)
            if test in ("TYPE_CHECKING", "typing.TYPE_CHECKING"):
                yield from conditional(node.body, condition | Condition.TYPE_CHECKING)
                yield from conditional(node.orelse, condition)
            elif test == "__name__ == '__main__'":
                continue
            else:
                yield from conditional(node.body, condition | Condition.IF)
                yield from conditional(node.orelse, condition | Condition.FALLBACK)
        elif isinstance(node, ast.Try):
            yield from conditional(node.body, condition | Condition.TRY)
            for handler in node.handlers:
                yield from conditional(handler.body, condition | Condition.FALLBACK)
            yield from conditional(node.orelse, condition | Condition.TRY)
            yield from conditional(node.finalbody, condition)
        elif isinstance(node, (ast.With, ast.AsyncWith)):
            yield from conditional(node.body, condition)
        elif isinstance(node, (ast.For, ast.While, ast.AsyncFor)):
            yield from conditional(node.body, condition | Condition.IF)
        else:
            yield node, condition


def read_class(node: ast.ClassDef, condition: Condition = _ALWAYS) -> Class:
    """Read a class statement; members of its bases are not looked at."""
    bases = tuple(expression.text(base) for base in node.bases)
    kind = Kind(0)
    for base in bases:
        kind |= _BASE_KINDS.get(base.partition("[")[0].rpartition(".")[2], Kind(0))
    for keyword in node.keywords:
        written = expression.text(keyword.value)
        if keyword.arg == "metaclass" and written.endswith("ABCMeta"):
            kind |= Kind.ABC
        elif keyword.arg == "kw_only" and written == "True":
            kind |= Kind.KW_ONLY
        elif keyword.arg == "frozen" and written == "True":
            kind |= Kind.SEALED
    decorators = []
    for decorator in node.decorator_list:
        written = expression.text(decorator, _VALUE_LIMIT)
        decorators.append(written)
        if "dataclass" in written.partition("(")[0].rpartition(".")[2]:
            kind |= Kind.DATACLASS
            kind |= Kind.KW_ONLY if "kw_only=True" in written else Kind(0)
            kind |= Kind.SEALED if "frozen=True" in written else Kind(0)
    reader = _ClassReader(kind)
    for statement, inner in conditional(node.body):
        reader.statement(statement, inner)
    attributes = reader.attributes
    for name, attribute in reader.on_self.items():
        attributes.setdefault(name, attribute)
    return Class(
        bases=bases,
        kind=reader.kind,
        attributes=attributes,
        methods=reader.methods,
        classes=reader.classes,
        decorators=tuple(decorators),
        condition=condition,
        line=node.lineno,
    )


class _ClassReader:
    def __init__(self, kind: Kind) -> None:
        self.kind = kind
        self.attributes: dict[str, Attribute] = {}
        self.on_self: dict[str, Attribute] = {}
        self.methods: dict[str, Function] = {}
        self.classes: dict[str, Class] = {}

    def statement(self, node: ast.stmt, condition: Condition) -> None:
        if isinstance(node, _FUNCTIONS):
            self._method(node, condition)
        elif isinstance(node, ast.ClassDef):
            self.classes[node.name] = read_class(node, condition)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            annotation = annotated(node.annotation)
            value = expression.text(node.value, _DEFAULT_LIMIT)
            keyword = not annotation.startswith(("ClassVar", "typing.ClassVar"))
            if "init=False" in value:
                keyword = False
            self.attributes[node.target.id] = Attribute(
                annotation, value, False, condition, node.lineno, _keys(node.value), keyword
            )
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                for bound, value_node in _pairs(target, node.value):
                    if isinstance(bound, ast.Name):
                        self._class_value(bound.id, value_node, condition, node.lineno)

    def _class_value(
        self, name: str, value: ast.expr | None, condition: Condition, line: int
    ) -> None:
        if isinstance(value, ast.Name) and value.id in self.methods:
            self.methods[name] = self.methods[value.id]  # ``b = a``: a second name for a method
            return
        new = Attribute(
            "", expression.text(value, _DEFAULT_LIMIT), False, condition, line, _keys(value)
        )
        if isinstance(value, ast.Call):
            called = expression.text(value.func)
            if called in ("property", "functools.cached_property", "cached_property"):
                self.methods[name] = Function(role=Role.PROPERTY, line=line)
                return
        self.attributes.setdefault(name, new)

    def _method(self, node: ast.FunctionDef | ast.AsyncFunctionDef, condition: Condition) -> None:
        if _decorated(node, _OVERLOAD):
            return
        for decorator in node.decorator_list:
            if isinstance(decorator, ast.Attribute) and decorator.attr in ("setter", "deleter"):
                known = self.methods.get(node.name)
                if known is not None and decorator.attr == "setter":
                    self.methods[node.name] = msgspec.structs.replace(
                        known, role=known.role | Role.SETTER
                    )
                self._self_attributes(node)
                return
        if node.name in ("__getattr__", "__getattribute__"):
            self.kind |= Kind.OPEN
        elif node.name == "__setattr__":
            self.kind |= Kind.SEALED
        function = read_function(node, condition)
        known = self.methods.get(node.name)
        if known is not None and condition:
            function = msgspec.structs.replace(known, condition=known.condition | Condition.SEVERAL)
        self.methods[node.name] = function
        if not function.role & Role.STATIC:
            self._self_attributes(node)

    def _self_attributes(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        arguments = [*node.args.posonlyargs, *node.args.args]
        if not arguments:
            return
        owner = arguments[0].arg
        annotations = {
            argument.arg: expression.text(argument.annotation)
            for argument in [*arguments, *node.args.kwonlyargs]
        }
        for statement in _assignments(node.body):
            if isinstance(statement, ast.AnnAssign):
                self._self_attribute(
                    owner,
                    statement.target,
                    statement.value,
                    expression.text(statement.annotation),
                    annotations,
                    statement.lineno,
                )
            elif isinstance(statement, ast.Assign):
                for target in statement.targets:
                    for bound, value in _pairs(target, statement.value):
                        self._self_attribute(owner, bound, value, "", annotations, statement.lineno)
            elif isinstance(statement, ast.AugAssign):
                self._self_attribute(
                    owner, statement.target, None, "", annotations, statement.lineno
                )
            elif isinstance(statement, (ast.With, ast.AsyncWith)):
                for item in statement.items:
                    if item.optional_vars is not None:
                        self._self_attribute(
                            owner, item.optional_vars, None, "", annotations, statement.lineno
                        )
            elif isinstance(statement, ast.Expr):
                self._set_by_name(owner, statement)

    def _self_attribute(
        self,
        owner: str,
        target: ast.expr,
        value: ast.expr | None,
        annotation: str,
        annotations: dict[str, str],
        line: int,
    ) -> None:
        if not (
            isinstance(target, ast.Attribute)
            and isinstance(target.value, ast.Name)
            and target.value.id == owner
        ):
            return
        if not annotation and isinstance(value, ast.Name):
            annotation = annotations.get(value.id, "")
        new = Attribute(
            annotation, expression.text(value, _DEFAULT_LIMIT), True, Condition(0), line
        )
        old = self.on_self.get(target.attr)
        if old is None:
            self.on_self[target.attr] = new
        elif (annotation and not old.annotation) or (
            not old.annotation and old.value in ("", "None") and new.value not in ("", "None")
        ):
            # ``self.x = None`` first, the real thing later: the latter says what it is.
            self.on_self[target.attr] = Attribute(
                new.annotation, new.value, True, Condition(0), old.line
            )

    def _set_by_name(self, owner: str, statement: ast.Expr) -> None:
        """``setattr(self, "x", …)`` and torch's ``self.register_buffer("x", …)``."""
        call = statement.value
        if not isinstance(call, ast.Call) or not call.args:
            return
        function = call.func
        name: ast.expr | None = None
        if isinstance(function, ast.Name) and function.id == "setattr" and len(call.args) == 3:
            holder: ast.expr = call.args[0]
            name = call.args[1]
        elif isinstance(function, ast.Attribute) and function.attr in _REGISTERING:
            holder = function.value
            name = call.args[0]
        if (
            isinstance(name, ast.Constant)
            and isinstance(name.value, str)
            and isinstance(holder, ast.Name)
            and holder.id == owner
        ):
            self.on_self.setdefault(
                name.value, Attribute("", "", True, Condition(0), statement.lineno)
            )


def _assignments(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements of a function that can bind attributes, nested blocks and closures included."""
    stack: list[ast.AST] = [*body]
    stack.reverse()
    while stack:
        node = stack.pop()
        if isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr)):
            yield node
        elif isinstance(node, ast.ClassDef):
            continue
        elif isinstance(node, (ast.With, ast.AsyncWith)):
            yield node
            stack += node.body[::-1]
        elif isinstance(node, (ast.stmt, ast.excepthandler)) or hasattr(node, "body"):
            nested: list[ast.AST] = []
            for field in ("body", "handlers", "orelse", "finalbody", "cases"):
                inner = getattr(node, field, None)
                if isinstance(inner, list):
                    nested += inner
            stack += nested[::-1]


def read_function(
    node: ast.FunctionDef | ast.AsyncFunctionDef, condition: Condition = _ALWAYS
) -> Function:
    """Read a ``def``: signature, what kind it is, what its returns tell."""
    role = Role(0)
    decorators = []
    for decorator in node.decorator_list:
        written = expression.text(decorator, _VALUE_LIMIT)
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
    arities, result, generator, self_reads, self_calls = _inside(node)
    if generator:
        role |= Role.GENERATOR
    return Function(
        parameters=read_parameters(node.args),
        returns=returns,
        role=role,
        condition=condition,
        line=node.lineno,
        decorators=tuple(decorators),
        arities=arities,
        result=result,
        message=message,
        reads=self_reads,
        calls=self_calls,
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
        expression.text(default, _DEFAULT_LIMIT),
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
        raised = expression.text(body[0].exc, _VALUE_LIMIT)
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
) -> tuple[tuple[int, ...], str, bool, tuple[str, ...], tuple[str, ...]]:
    """Returns, ``yield`` and what is used of ``self`` (closures included for the latter)."""
    arguments = [*node.args.posonlyargs, *node.args.args]
    owner = arguments[0].arg if arguments and arguments[0].arg in ("self", "cls") else ""
    arities: set[int] = set()
    results: list[ast.expr | None] = []
    generator = False
    reads: set[str] = set()
    calls: set[str] = set()
    stack: list[tuple[ast.AST, bool]] = [(child, True) for child in node.body]
    while stack:
        inner, own = stack.pop()
        kind = inner.__class__
        if kind is ast.Attribute:
            value = inner.value  # type: ignore[attr-defined]
            if value.__class__ is ast.Name:
                if value.id == owner and inner.ctx.__class__ is ast.Load:  # type: ignore[attr-defined]
                    reads.add(inner.attr)  # type: ignore[attr-defined]
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
        result = written if len(written) <= _VALUE_LIMIT else ""
    reads -= calls
    return (
        tuple(sorted(arities)),
        result,
        generator,
        tuple(sorted(reads)),
        tuple(sorted(calls)),
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


def _decorated(node: ast.FunctionDef | ast.AsyncFunctionDef, names: set[str]) -> bool:
    return any(expression.text(each).partition("(")[0] in names for each in node.decorator_list)


def _pairs(target: ast.expr, value: ast.expr | None) -> Iterator[tuple[ast.expr, ast.expr | None]]:
    """``a, b = x, y`` as two assignments; without a matching display the value is not known."""
    if isinstance(target, (ast.Tuple, ast.List)):
        values: list[ast.expr | None] = [None] * len(target.elts)
        if isinstance(value, (ast.Tuple, ast.List)) and len(value.elts) == len(target.elts):
            values = list(value.elts)
        for inner, inner_value in zip(target.elts, values, strict=True):
            yield from _pairs(inner, inner_value)
    elif isinstance(target, ast.Starred):
        yield target.value, None
    else:
        yield target, value


def _strings(node: ast.expr | None) -> list[str] | None:
    """The strings of a display, or None where it is no plain one."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = _strings(node.left), _strings(node.right)
        return None if left is None or right is None else left + right
    if isinstance(node, ast.Call) and node.args and not node.keywords:
        return _strings(node.args[0])  # ``set([...])``, ``frozenset({...})``, ``tuple(...)``
    if not isinstance(node, (ast.List, ast.Tuple, ast.Set)):
        return None
    out = []
    for element in node.elts:
        if not (isinstance(element, ast.Constant) and isinstance(element.value, str)):
            return None
        out.append(element.value)
    return out


def _keys(node: ast.expr | None) -> tuple[str, ...]:
    if isinstance(node, ast.Dict):
        keys = [
            key.value
            for key in node.keys
            if isinstance(key, ast.Constant) and isinstance(key.value, str)
        ]
        return tuple(keys[:_KEYS_LIMIT])
    return tuple((_strings(node) or ())[:_KEYS_LIMIT])


def _lazy_import(node: ast.expr | None) -> Import | None:
    """``X = LazyImport("module", "name")``, as :mod:`sglang` itself binds its entry points."""
    if (
        isinstance(node, ast.Call)
        and expression.text(node.func).rpartition(".")[2] == "LazyImport"
        and len(node.args) == 2
        and all(isinstance(argument, ast.Constant) for argument in node.args)
    ):
        module, name = (str(argument.value) for argument in node.args)  # type: ignore[attr-defined]
        return Import(module, name)
    return None


def _import_table(node: ast.Dict, own: str) -> dict[str, Import]:
    """A dict of lazily imported names: to a module, or to a module and a name in it."""
    table: dict[str, Import] = {}
    for key, value in zip(node.keys, node.values, strict=True):
        if not (isinstance(key, ast.Constant) and isinstance(key.value, str)):
            continue
        parts: list[str] = []
        if isinstance(value, ast.Constant) and isinstance(value.value, str):
            parts = value.value.split(":")
        elif isinstance(value, (ast.Tuple, ast.List)):
            parts = _strings(value) or []
        if not parts or not re.fullmatch(r"\.?[\w.]+", parts[0]):
            continue
        module = parts[0]
        if not module.startswith("sglang"):
            module = f"{own}.{module.lstrip('.')}"
        table[key.value] = Import(module, parts[1] if len(parts) > 1 else key.value, local=True)
    return table


def _looked_up(node: ast.Subscript | ast.Call, parameter: str) -> str:
    """``TABLE`` of ``TABLE[name]`` or ``TABLE.get(name)``; empty for anything else."""
    if isinstance(node, ast.Subscript):
        return expression.text(node.value) if expression.text(node.slice) == parameter else ""
    function = node.func
    if (
        isinstance(function, ast.Attribute)
        and function.attr == "get"
        and node.args
        and expression.text(node.args[0]) == parameter
    ):
        return expression.text(function.value)
    return ""
