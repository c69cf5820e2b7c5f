"""One ``.py`` file's source → :class:`~sglang_contracts.surface.model.Module`, by ``ast`` alone.

Two passes over one tree, sharing what they can: :class:`_Scope` reads definitions (what the module
*offers*), :class:`~.facts.Facts` reads the bodies (what it *calls* and *reads*: the other side of
each contract). Nothing is imported, nothing evaluated.
"""

from __future__ import annotations

import ast
import contextlib
import itertools
import re
import warnings
from collections.abc import Iterator

import msgspec

from sglang_contracts.surface import expression
from sglang_contracts.surface.classes import read_class
from sglang_contracts.surface.conditions import conditional
from sglang_contracts.surface.displays import (
    import_table,
    keys_of,
    lazy_import,
    looked_up,
    pairs,
    strings,
)
from sglang_contracts.surface.facts import Facts
from sglang_contracts.surface.functions import (
    FUNCTIONS,
    OVERLOAD,
    VALUE_LIMIT,
    decorated,
    read_function,
)
from sglang_contracts.surface.model import (
    Class,
    Condition,
    Function,
    Import,
    Module,
    Usage,
    Value,
)


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
    facts = Facts(scope.imports, scope.absolute, name)
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
        for chunk in _statements(source.decode("utf-8", "replace")):
            with contextlib.suppress(SyntaxError, ValueError, RecursionError, MemoryError):
                body += ast.parse(chunk).body
        return body, problem


def _statements(source: str) -> Iterator[str]:
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
        yield "".join(lines[start:end])


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
        elif isinstance(node, FUNCTIONS):
            if node.name == "__getattr__":
                self._lazy(node)
            elif not decorated(node, OVERLOAD):
                self._define(self.functions, node.name, read_function(node, condition))
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                for each, value in pairs(target, node.value):
                    self._assign(each, "", value, condition)
        elif isinstance(node, ast.AnnAssign):
            annotation = expression.text(node.annotation)
            self._assign(node.target, annotation, node.value, condition)
        elif isinstance(node, ast.AugAssign):
            if isinstance(node.target, ast.Name) and node.target.id == "__all__":
                more = strings(node.value)
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
    ) -> None:
        if isinstance(target, ast.Subscript):
            self._module_alias(target, value)
            return
        if not isinstance(target, ast.Name):
            return
        if target.id == "__all__":
            self.exports = strings(value) if value is not None else None
            return
        imported = lazy_import(value)
        if imported is not None:
            self.imports.setdefault(target.id, imported)
            return
        if isinstance(value, ast.Dict):
            self._tables[target.id] = import_table(value, self.name)
        new = Value(
            annotation,
            expression.text(value, VALUE_LIMIT),
            keys_of(value),
            condition,
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
                table = looked_up(inner, parameter)
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
        return strings(node)
