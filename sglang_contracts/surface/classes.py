"""A ``class`` statement → its record: fields, methods, what is assigned on ``self``."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

import msgspec

from sglang_contracts.surface import expression
from sglang_contracts.surface.conditions import ALWAYS, conditional
from sglang_contracts.surface.displays import keys_of, pairs
from sglang_contracts.surface.functions import (
    DEFAULT_LIMIT,
    FUNCTIONS,
    OVERLOAD,
    VALUE_LIMIT,
    annotated,
    decorated,
    read_function,
)
from sglang_contracts.surface.model import Attribute, Class, Condition, Function, Kind, Role

_REGISTERING = {"register_buffer", "register_parameter", "add_module", "register_module"}
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


def read_class(node: ast.ClassDef, condition: Condition = ALWAYS) -> Class:
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
        elif keyword.arg == "dict" and written == "True":
            kind |= Kind.DICT
    decorators = []
    for decorator in node.decorator_list:
        written = expression.text(decorator, VALUE_LIMIT)
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
    )


class _ClassReader:
    def __init__(self, kind: Kind) -> None:
        self.kind = kind
        self.attributes: dict[str, Attribute] = {}
        self.on_self: dict[str, Attribute] = {}
        self.methods: dict[str, Function] = {}
        self.classes: dict[str, Class] = {}

    def statement(self, node: ast.stmt, condition: Condition) -> None:
        if isinstance(node, FUNCTIONS):
            self._method(node, condition)
        elif isinstance(node, ast.ClassDef):
            self.classes[node.name] = read_class(node, condition)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            annotation = annotated(node.annotation)
            value = expression.text(node.value, DEFAULT_LIMIT)
            keyword = not annotation.startswith(("ClassVar", "typing.ClassVar"))
            if "init=False" in value:
                keyword = False
            self.attributes[node.target.id] = Attribute(
                annotation, value, False, condition, keys_of(node.value), keyword
            )
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                for bound, value_node in pairs(target, node.value):
                    if isinstance(bound, ast.Name):
                        self._class_value(bound.id, value_node, condition)

    def _class_value(self, name: str, value: ast.expr | None, condition: Condition) -> None:
        if isinstance(value, ast.Name) and value.id in self.methods:
            self.methods[name] = self.methods[value.id]  # ``b = a``: a second name for a method
            return
        new = Attribute("", expression.text(value, DEFAULT_LIMIT), False, condition, keys_of(value))
        if isinstance(value, ast.Call):
            called = expression.text(value.func)
            if called in ("property", "functools.cached_property", "cached_property"):
                self.methods[name] = Function(role=Role.PROPERTY)
                return
        self.attributes.setdefault(name, new)

    def _method(self, node: ast.FunctionDef | ast.AsyncFunctionDef, condition: Condition) -> None:
        if decorated(node, OVERLOAD):
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
                )
            elif isinstance(statement, ast.Assign):
                for target in statement.targets:
                    for bound, value in pairs(target, statement.value):
                        self._self_attribute(owner, bound, value, "", annotations)
            elif isinstance(statement, ast.AugAssign):
                self._self_attribute(owner, statement.target, None, "", annotations)
            elif isinstance(statement, (ast.With, ast.AsyncWith)):
                for item in statement.items:
                    if item.optional_vars is not None:
                        self._self_attribute(owner, item.optional_vars, None, "", annotations)
            elif isinstance(statement, ast.Expr):
                self._set_by_name(owner, statement)

    def _self_attribute(
        self,
        owner: str,
        target: ast.expr,
        value: ast.expr | None,
        annotation: str,
        annotations: dict[str, str],
    ) -> None:
        if not (
            isinstance(target, ast.Attribute)
            and isinstance(target.value, ast.Name)
            and target.value.id == owner
        ):
            return
        if not annotation and isinstance(value, ast.Name):
            annotation = annotations.get(value.id, "")
        new = Attribute(annotation, expression.text(value, DEFAULT_LIMIT), True, Condition(0))
        old = self.on_self.get(target.attr)
        if old is None:
            self.on_self[target.attr] = new
        elif (annotation and not old.annotation) or (
            not old.annotation and old.value in ("", "None") and new.value not in ("", "None")
        ):
            # ``self.x = None`` first, the real thing later: the latter says what it is.
            self.on_self[target.attr] = Attribute(new.annotation, new.value, True, Condition(0))

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
            self.on_self.setdefault(name.value, Attribute("", "", True, Condition(0)))


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
