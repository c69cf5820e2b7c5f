"""What a module *does*: calls, reads, writes, flags, environment variables, registrations.

These are the other half of each contract: a plugin that overrides a method must fit the way
upstream calls it, and an object that a plugin provides must have what upstream reads off it.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Callable

from sglang_contracts.surface import expression
from sglang_contracts.surface.flags import TEXT_LIMIT, annotated_flag, literal, registered_flag
from sglang_contracts.surface.model import Call, Condition, Flag, Import, Usage
from sglang_contracts.surface.routes import ROUTES, routes
from sglang_contracts.surface.walk import child_fields

_VARIABLE = re.compile(r"[A-Z][A-Z0-9]*(_[A-Z0-9]+)+")
_ENVIRONMENT = {"getenv", "setdefault", "pop", "get", "getint", "unsetenv", "putenv"}
_PREFIX = "SGLANG_"
_EXTERNAL_ROOTS = {"torch", "np", "F", "os", "math", "time", "json", "re", "tl", "triton", "dist"}


class Facts:
    """Collects over one module; see the attributes of :class:`~.model.Module` of the same names."""

    def __init__(
        self,
        imports: dict[str, Import],
        absolute: Callable[[ast.ImportFrom], str],
        module: str = "",
    ) -> None:
        self._environ = module.endswith(".environ")
        self._external = _EXTERNAL_ROOTS | {
            name
            for name, target in imports.items()
            if not target.module.startswith("sglang") and not target.name
        }
        self._absolute = absolute
        self.calls: dict[str, set[tuple[str, int, tuple[str, ...], bool, bool, int]]] = defaultdict(
            set
        )
        self.reads: dict[str, set[str]] = defaultdict(set)
        self.writes: dict[str, set[str]] = defaultdict(set)
        self.flags: list[Flag] = []
        self.environment: dict[str, str] = {}
        self.registrations: dict[str, set[str]] = defaultdict(set)
        self.local_imports: dict[str, Import] = {}

    def read(self, body: list[ast.stmt]) -> None:
        """Visit every node of a module once."""
        visitors: dict[type[ast.AST], Callable[..., None]] = {
            ast.Call: self._call,
            ast.Attribute: self._attribute,
            ast.Assign: self._assign,
            ast.ImportFrom: self._import_from,
            ast.Import: self._import,
            ast.ClassDef: self._class,
            ast.Subscript: self._subscript,
            ast.Dict: self._dict,
        }
        stack: list[ast.AST] = list(body)
        push = stack.append
        while stack:
            node = stack.pop()
            kind = node.__class__
            visit = visitors.get(kind)
            if visit is not None:
                visit(node)
            for field in child_fields(kind):
                child = getattr(node, field, None)
                if child.__class__ is list:
                    stack += child
                elif child is not None:
                    push(child)

    def usage(self) -> Usage:
        """All of it, in a fixed order."""
        return Usage(
            calls={
                name: tuple(Call(*form) for form in sorted(forms))
                for name, forms in sorted(self.calls.items())
            },
            reads={tail: tuple(sorted(names)) for tail, names in sorted(self.reads.items())},
            writes={tail: tuple(sorted(names)) for tail, names in sorted(self.writes.items())},
            flags=tuple(self.flags),
            environment=dict(sorted(self.environment.items())),
            registrations={
                key: tuple(sorted(names)) for key, names in sorted(self.registrations.items())
            },
        )

    # One visitor a node class; what is called sets ``_called`` so that a method is no read.

    def _call(self, node: ast.Call) -> None:
        function = node.func
        if function.__class__ is ast.Attribute:
            name: str = function.attr
            receiver = tail(function.value)
            function._is_called = True  # type: ignore[attr-defined]
            root = _root(function)
        elif function.__class__ is ast.Name:
            name = function.id
            receiver = root = ""
            if name in ("getattr", "hasattr"):
                self._soft_read(node)
                return
        else:
            return
        unpacked = getattr(node, "_unpacked", 0)
        self._strings_of_call(name, node)
        self._metric(node)
        if root in self._external:
            if name in _ENVIRONMENT:
                self._variable(node)
            return
        positional = 0
        star = False
        for argument in node.args:
            if argument.__class__ is ast.Starred:
                star = True
            elif not star:
                positional += 1
        keywords = tuple(sorted(each.arg for each in node.keywords if each.arg))
        double_star = any(each.arg is None for each in node.keywords)
        self.calls[name].add((receiver, positional, keywords, star, double_star, unpacked))

    def _strings_of_call(self, name: str, node: ast.Call) -> None:
        if not node.args:
            return
        first = node.args[0]
        if not (first.__class__ is ast.Constant and isinstance(first.value, str)):
            return
        text: str = first.value
        if name == "add_argument":
            if text.startswith("-"):
                self.flags.append(registered_flag(node))
        elif name in ROUTES and text.startswith("/"):
            self.registrations["route"].update(routes(name, node, text))
        elif name.lstrip("_").startswith("register"):
            self.registrations[name].add(text)
        elif "env" in name.lower() and _VARIABLE.fullmatch(text):
            self._deprecated_variables(name, node, text)

    def _metric(self, node: ast.Call) -> None:
        """``Counter(name="sglang:…")``, whatever makes it."""
        named = [each.value for each in node.keywords if each.arg == "name"]
        for each in (*named, *node.args[:1]):
            text = str(each.value) if isinstance(each, ast.Constant) else ""
            if text.startswith("sglang:") and "::" not in text:  # ``sglang::x`` names a process
                self.registrations["metric"].add(text)

    def _deprecated_variables(self, name: str, node: ast.Call, text: str) -> None:
        second = (
            node.args[1].value
            if len(node.args) > 1 and isinstance(node.args[1], ast.Constant)
            else None
        )
        if "deprecated" not in name or not isinstance(second, str):
            self.environment.setdefault(text, "")
        elif _VARIABLE.fullmatch(second):
            self.environment[second] = text  # (new_name, old_name)
            self.environment.setdefault(text, "")
        else:
            self.environment[text] = second[:TEXT_LIMIT]

    def _variable(self, node: ast.Call) -> None:
        if node.args and isinstance(node.args[0], ast.Constant):
            name = node.args[0].value
            if isinstance(name, str) and _VARIABLE.fullmatch(name):
                self.environment.setdefault(name, "")

    def _soft_read(self, node: ast.Call) -> None:
        if len(node.args) < 2:
            return
        receiver = tail(node.args[0])
        name = node.args[1]
        if receiver and isinstance(name, ast.Constant) and isinstance(name.value, str):
            hard = isinstance(node.func, ast.Name) and node.func.id == "getattr"
            hard = hard and len(node.args) == 2
            self.reads[receiver if hard else f"{receiver}?"].add(name.value)

    def _attribute(self, node: ast.Attribute) -> None:
        if getattr(node, "_is_called", False):
            return
        receiver = tail(node.value)
        if not receiver or receiver in ("self", "cls") or _root(node) in self._external:
            return
        if node.ctx.__class__ is ast.Load:
            self.reads[receiver].add(node.attr)
            if receiver == "envs":
                self.environment.setdefault(node.attr, "")
        else:
            self.writes[receiver].add(node.attr)

    def _assign(self, node: ast.Assign) -> None:
        value = node.value
        if value.__class__ is ast.Await:
            value = value.value
        for target in node.targets:
            if value.__class__ is ast.Call and isinstance(target, (ast.Tuple, ast.List)):
                starred = any(element.__class__ is ast.Starred for element in target.elts)
                if not starred:
                    value._unpacked = len(target.elts)  # type: ignore[attr-defined]
            if (
                isinstance(target, ast.Subscript)
                and isinstance(target.slice, ast.Constant)
                and isinstance(target.slice.value, str)
            ):
                holder = tail(target.value)
                if holder.isupper() or holder.endswith(("Map", "Registry", "_map", "registry")):
                    self.registrations[holder].add(target.slice.value)

    def _subscript(self, node: ast.Subscript) -> None:
        if (
            isinstance(node.slice, ast.Constant)
            and isinstance(node.slice.value, str)
            and node.value.__class__ is ast.Attribute
            and node.value.attr == "environ"
            and _VARIABLE.fullmatch(node.slice.value)
        ):
            self.environment.setdefault(node.slice.value, "")

    def _import_from(self, node: ast.ImportFrom) -> None:
        module = self._absolute(node)
        if module.startswith("sglang"):
            for alias in node.names:
                self.local_imports.setdefault(
                    alias.asname or alias.name,
                    Import(module, alias.name, Condition(0), local=True),
                )

    def _import(self, node: ast.Import) -> None:
        for alias in node.names:
            if alias.asname and alias.name.startswith("sglang"):
                self.local_imports.setdefault(
                    alias.asname, Import(alias.name, "", Condition(0), local=True)
                )

    def _dict(self, node: ast.Dict) -> None:
        """A registry of deprecated variables: ``{"OLD": Deprecated(replacement="NEW")}``."""
        for key, value in zip(node.keys, node.values, strict=True):
            if not (
                isinstance(key, ast.Constant)
                and isinstance(key.value, str)
                and _VARIABLE.fullmatch(key.value)
            ):
                continue
            if isinstance(value, ast.Call) and "eprecated" in expression.text(value.func):
                self.environment[key.value] = literal(value)[:TEXT_LIMIT]
            elif self._environ and isinstance(value, ast.Constant):
                new = str(value.value)  # ``{"OLD": "NEW"}``, forwarded in a loop
                if new.startswith(_PREFIX) and _VARIABLE.fullmatch(new):
                    self.environment[key.value] = new
                    self.environment.setdefault(new, "")

    def _class(self, node: ast.ClassDef) -> None:
        if node.name == "Envs":
            for statement in node.body:
                if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Call):
                    self._environment_field(statement)
        annotated = [
            statement
            for statement in node.body
            if isinstance(statement, ast.AnnAssign)
            and isinstance(statement.target, ast.Name)
            and isinstance(statement.annotation, ast.Subscript)
            and isinstance(statement.annotation.slice, ast.Tuple)
            and expression.text(statement.annotation.value).rpartition(".")[2] in ("A", "Annotated")
        ]
        for statement in annotated:
            flag = annotated_flag(statement)
            if flag is not None:
                self.flags.append(flag)

    def _environment_field(self, node: ast.Assign) -> None:
        call = node.value
        for target in node.targets:
            if isinstance(target, ast.Name) and _VARIABLE.fullmatch(target.id):
                self.environment.setdefault(target.id, "")
                for keyword in call.keywords:  # type: ignore[attr-defined]
                    if keyword.arg == "deprecated_name" and isinstance(keyword.value, ast.Constant):
                        self.environment[str(keyword.value.value)] = target.id


def tail(node: ast.expr) -> str:
    """The last name of a receiver: ``b`` of ``self.a.b``, ``f()`` of a call."""
    kind = node.__class__
    if kind is ast.Name:
        return node.id  # type: ignore[attr-defined, no-any-return]
    if kind is ast.Attribute:
        return node.attr  # type: ignore[attr-defined, no-any-return]
    if kind is ast.Call:
        inner = tail(node.func)  # type: ignore[attr-defined]
        return f"{inner}()" if inner else ""
    if kind is ast.Subscript:
        inner = tail(node.value)  # type: ignore[attr-defined]
        return f"{inner}[]" if inner else ""
    if kind is ast.Await:
        return tail(node.value)  # type: ignore[attr-defined]
    return ""


def _root(node: ast.expr) -> str:
    """The first name of a dotted chain; empty where it does not begin with a name."""
    while node.__class__ is ast.Attribute:
        node = node.value
    return node.id if node.__class__ is ast.Name else ""
