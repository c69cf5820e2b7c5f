"""Imports, functions and classes."""

from __future__ import annotations

import ast
import sys
from collections.abc import Sequence

import msgspec

from sglang_contracts.plugin.ir.nodes import (
    UNKNOWN,
    DictOf,
    Filled,
    Foreign,
    Import,
    ListOf,
    Literal,
    LocalClass,
    LocalFunction,
    Param,
    PluginName,
    Self,
    SglangVersion,
    Wrapped,
)
from sglang_contracts.plugin.ir.records import Function, OwnClass, Parameter, UseKind
from sglang_contracts.plugin.walk import containers, string_constants, version_comparisons
from sglang_contracts.plugin.walk import except_clauses as guards
from sglang_contracts.plugin.walk import hooks_and_patches as patches
from sglang_contracts.plugin.walk.scope import BUILTINS, LONGEST_PATH, Scope
from sglang_contracts.plugin.walk.state import Decorated, Walk

OTHER_FRAMEWORKS = frozenset(
    {"vllm", "tensorrt_llm", "tokenspeed", "lmdeploy", "transformers_neuronx", "mlc_llm"}
)

_OF_CLASSES = frozenset({"__new__", "__init_subclass__", "__class_getitem__"})
"""Methods that are given the class without a decorator that says so."""


def walk_import(walk: Walk, node: ast.Import) -> None:
    """Walk an ``ast.Import``."""
    for alias in node.names:
        top = alias.name.partition(".")[0]
        walk.frameworks.add(top) if top in OTHER_FRAMEWORKS or top == "sglang" else None
        if len(alias.name) > LONGEST_PATH:
            continue
        if top == "sglang" and not is_own(walk, alias.name):
            value = walk.nodes.add(Import(alias.name, ""))
            walk.use(UseKind.IMPORT, value, node)
            bound = alias.asname or top
            walk.scope.names[bound] = (
                value if alias.asname else walk.nodes.add(Import("sglang", ""))
            )
        elif is_own(walk, alias.name):
            target = alias.name if alias.asname else top
            walk.scope.names[alias.asname or top] = walk.nodes.add(PluginName(target, ""))
        else:
            walk.scope.names[alias.asname or top] = foreign(walk, alias.name, "")
        walk.scope.constants.pop(alias.asname or top, None)


def foreign(walk: Walk, module: str, name: str) -> int:
    """What other libraries bind; only the few that matter have a value."""
    if module in {"importlib.metadata", "importlib_metadata", "pkg_resources"} and name in {
        "version",
        "get_distribution",
    }:
        return walk.nodes.add(Literal(f"{module}.{name}"))
    return walk.nodes.add(Foreign(module, name))


def is_own(walk: Walk, module: str) -> bool:
    """Whether a dotted module is a file of the plugin."""
    return module in walk.own_modules


def walk_import_from(walk: Walk, node: ast.ImportFrom) -> None:
    """Walk an ``ast.ImportFrom``."""
    module = node.module or ""
    if node.level:
        parts = walk.file.module.split(".")
        keep = len(parts) - node.level + (1 if walk.package else 0)
        base = ".".join(parts[: max(keep, 0)])
        module = f"{base}.{module}".strip(".") if module else base
    if module == "__future__":
        walk.future |= any(alias.name == "annotations" for alias in node.names)
        return
    top = module.partition(".")[0]
    if not node.level and (top in OTHER_FRAMEWORKS or top == "sglang"):
        walk.frameworks.add(top)
    own = bool(node.level) or is_own(walk, module)
    upstream = top == "sglang" and not own and len(module) <= LONGEST_PATH
    for alias in node.names:
        bound = alias.asname or alias.name
        if alias.name == "*":
            if upstream:
                walk.use(UseKind.IMPORT, walk.nodes.add(Import(module, "")), node)
                walk.file.stars.append(":" + module)
            elif own:
                walk.file.stars.append(module)
            elif top not in sys.stdlib_module_names:
                walk.file.foreign_stars.append((module, node.lineno, walk.guard))
            continue
        if upstream:
            value = walk.nodes.add(Import(module, alias.name))
            place = alias if hasattr(alias, "lineno") else node
            walk.use(UseKind.IMPORT, value, place)
            if version_comparisons.version_import(walk, module, alias.name):
                value = walk.nodes.add(SglangVersion())
        elif own:
            value = walk.nodes.add(PluginName(module, alias.name))
        else:
            value = foreign(walk, module, alias.name)
        walk.bind(bound, value)


def walk_function(walk: Walk, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
    """Walk an ``ast.FunctionDef``."""
    value = define(walk, node, "")
    walk.scope.names[node.name] = value
    walk.scope.constants.pop(node.name, None)


def define(walk: Walk, node: ast.FunctionDef | ast.AsyncFunctionDef, owner: str) -> int:
    """Record a function; its body is walked later."""
    walk.mention(node.name)
    kind, wrapped, hooks = "", False, []
    unknown: list[int] = []
    wrappers: list[tuple[ast.expr, int]] = []
    for decorator in node.decorator_list:
        changes = False
        name = guards.last_name(decorator.func if isinstance(decorator, ast.Call) else decorator)
        if name == "staticmethod":
            kind = "static"
        elif name == "classmethod":
            kind = "class"
        elif name in {"property", "cached_property", "abstractproperty"} or name in {
            "setter",
            "deleter",
            "getter",
        }:
            kind = "property"
        elif name in {"overload"}:
            kind = "overload"
        elif name not in {
            "abstractmethod",
            "override",
            "torch",
            "no_grad",
            "inference_mode",
            "wraps",
            "lru_cache",
            "cache",
            "final",
        }:
            changes = wrapped = True
        walk.decorators.add(id(decorator))
        value = walk.expr(decorator)
        if changes:
            unknown.append(value)
            wrappers.append((decorator, value))
        if isinstance(decorator, ast.Call):
            hooks.append((decorator, value))
    index = signature(walk, node, node.args, node.name, owner, kind)
    record = walk.file.functions[index]
    record.wrapped, record.decorators = wrapped, unknown
    record.hands_on = hands_on(node)
    body = [
        each
        for each in node.body
        if not (isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant))
    ]
    record.stub = len(body) == 1 and isinstance(body[0], ast.Raise)
    if node.returns is not None:
        record.annotation = string_constants.annotation(walk, node.returns)
    value = walk.nodes.add(LocalFunction(index))
    if not walk.quiet:
        walk.decorated += [Decorated(each, made, value, walk.guard) for each, made in wrappers]
    for decorator, _ in hooks:
        if patches.hook(walk, decorator, value, decorator=True):
            record.wrapped = False
    return value


def hands_on(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a function leaves what ``*args`` and ``**kwargs`` take as it is."""
    rest = {each.arg for each in (node.args.vararg, node.args.kwarg) if each is not None}
    if len(rest) < 2:
        return False
    for part in ast.walk(node):
        match part:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()) if name in rest:
                return False
            case ast.Subscript(value=ast.Name(id=name), ctx=context) if name in rest:
                if not isinstance(context, ast.Load):
                    return False
            case ast.Attribute(
                value=ast.Name(id=name), attr="pop" | "popitem" | "update" | "setdefault" | "clear"
            ) if name in rest:
                return False
    return True


def signature(
    walk: Walk,
    node: ast.AST,
    args: ast.arguments,
    name: str,
    owner: str,
    kind: str,
) -> int:
    """Make the record of a function and queue its body."""
    around = walk.scope.function
    prefix = ""
    if owner:
        prefix = owner + "."
    elif around >= 0:
        prefix = walk.file.functions[around].qual + ".<locals>."
    index = len(walk.file.functions)
    later = not isinstance(node, ast.Lambda)  # a lambda is mostly run where it stands
    guard = walk.outside_attempts(walk.guard) if later else walk.guard
    record = Function(
        prefix + name,
        getattr(node, "lineno", 1),
        owner=owner,
        kind=kind,
        is_async=isinstance(node, ast.AsyncFunctionDef),
        guard=guard,
    )
    walk.file.functions.append(record)
    positional = [*args.posonlyargs, *args.args]
    defaults: list[ast.expr | None] = [None] * (len(positional) - len(args.defaults))
    defaults += args.defaults
    rows: list[tuple[ast.arg, int, bool]] = []
    for position, (arg, default) in enumerate(zip(positional, defaults, strict=True)):
        rows.append((arg, 0 if position < len(args.posonlyargs) else 1, default is not None))
    if args.vararg:
        rows.append((args.vararg, 2, True))
    for arg, default in zip(args.kwonlyargs, args.kw_defaults, strict=True):
        rows.append((arg, 3, default is not None))
    if args.kwarg:
        rows.append((args.kwarg, 4, True))
    for default in [*args.defaults, *args.kw_defaults]:
        if default is not None:
            walk.expr(default)
    after = len(positional) + int(args.vararg is not None)
    known = [*enumerate(defaults), *enumerate(args.kw_defaults, after)]
    for position, default in known:
        if isinstance(default, ast.Constant) and isinstance(default.value, str):
            walk.defaults[index, position] = default.value
    parent = walk.scope
    scope = Scope(parent, index, owner or (parent.owner if around >= 0 else ""))
    for position, (arg, number, has_default) in enumerate(rows):
        note = (
            string_constants.annotation(walk, arg.annotation)
            if arg.annotation is not None
            else UNKNOWN
        )
        record.parameters.append(Parameter(arg.arg, number, has_default, note))
        if number in (2, 4):  # each of them is what the annotation says
            rest = ListOf(note) if number == 2 else DictOf(note)
            scope.names[arg.arg] = walk.nodes.add(rest) if note else UNKNOWN
        else:
            scope.names[arg.arg] = walk.nodes.add(Param(index, position))
    if owner and record.parameters and kind != "static":
        first = record.parameters[0].name
        if record.parameters[0].kind <= 1:
            of_class = kind == "class" or name in _OF_CLASSES
            bound = LocalClass(owner) if of_class else Self(owner)
            scope.names[first] = walk.nodes.add(bound)
            note = record.parameters[0].annotation
            selves = walk.file.classes[owner].selves if owner in walk.file.classes else []
            if note and not of_class and note not in selves:
                selves.append(note)
    walk.pending.append((scope, guard, node, index))
    return index


def function_body(walk: Walk, node: ast.AST, index: int) -> None:
    """Walk a queued body."""
    walk.next_statement()
    if isinstance(node, ast.Lambda):
        walk.returned(index, walk.expr(node.body))
        return
    assert isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    record = walk.file.functions[index]
    names = walk.mentioned.setdefault(index, set())
    names.update(p.name for p in record.parameters)
    names.update(guards.names_in(node.returns, *(each.annotation for each in _arguments(node))))
    walk.block(node.body)


def walk_class(walk: Walk, node: ast.ClassDef) -> None:
    """Walk an ``ast.ClassDef``."""
    around = walk.scope.owner
    prefix = around + "." if around and walk.scope.function == -2 else ""
    if not prefix and walk.scope.function >= 0:
        prefix = walk.file.functions[walk.scope.function].qual + ".<locals>."
    qual = prefix + node.name
    record = OwnClass(qual, node.lineno, guard=walk.guard)
    for base in node.bases:
        target = base.value if isinstance(base, ast.Subscript) else base
        value = walk.expr(target)
        if isinstance(base, ast.Starred):
            record.open = True
        if guards.last_name(target) not in {"object", "ABC", "Generic", "Protocol"}:
            record.bases.append(value)
            if value == UNKNOWN and guards.last_name(target) not in BUILTINS:
                record.open = True
    for keyword in node.keywords:
        walk.expr(keyword.value)
    for decorator in node.decorator_list:
        walk.expr(decorator)
        if guards.last_name(
            decorator.func if isinstance(decorator, ast.Call) else decorator
        ) not in {"dataclass", "final", "runtime_checkable", "total_ordering"}:
            record.decorated = True
    if qual in walk.file.classes:
        record.open = True  # two forms, by a condition: what one lacks the other may have
        for name, values in walk.file.classes[qual].attributes.items():
            record.attributes.setdefault(name, []).extend(values)
    if any(guards.last_name(base) in ("dict", "OrderedDict", "UserDict") for base in node.bases):
        walk.dict_classes.add(node.name)
    walk.file.classes[qual] = record
    value = walk.nodes.add(LocalClass(qual))
    walk.scope.names[node.name] = value
    walk.scope.constants.pop(node.name, None)
    outer = walk.scope
    # names of a class body are not seen from its methods: the body's own scope hangs beside
    body = Scope(outer, -2, qual)
    body.function = outer.function
    methods = _ClassScope(walk, outer, qual, record)
    methods.walk(node.body)
    for decorator in node.decorator_list:
        if isinstance(decorator, ast.Call):
            patches.hook(walk, decorator, value, decorator=True)


class _ClassScope:
    """The body of a class: its statements bind members."""

    def __init__(self, flow: Walk, outer: Scope, qual: str, record: OwnClass) -> None:
        self.flow = flow
        self.outer = outer
        self.qual = qual
        self.record = record

    def walk(self, body: Sequence[ast.stmt]) -> None:
        """Walk the body; functions become methods, names attributes."""
        flow = self.flow
        inner = Scope(self.outer, self.outer.function, self.qual)
        flow.scope = inner
        self.members(body)
        flow.scope = self.outer

    def members(self, body: Sequence[ast.stmt]) -> None:
        flow, record = self.flow, self.record
        for statement in body:
            flow.next_statement()
            match statement:
                case ast.FunctionDef() | ast.AsyncFunctionDef():
                    self.method(statement)
                case ast.ClassDef():
                    before = flow.scope
                    flow.scope = self.outer
                    walk_class(flow, statement)
                    nested = flow.scope.names.pop(statement.name, UNKNOWN)
                    flow.scope = before
                    before.names[statement.name] = nested
                    record.attributes[statement.name] = [nested]
                    record.lines[statement.name] = statement.lineno
                case ast.If(test=test, body=inner, orelse=other):
                    flow.expr(test)
                    self.members(inner)
                    self.members(other)
                case ast.Try(body=inner, handlers=handlers, orelse=other):
                    self.members(inner)
                    for handler in handlers:
                        self.members(handler.body)
                    self.members(other)
                case _:
                    bound = _bound(statement)
                    before_names = dict(flow.scope.names) if bound is None else {}
                    flow.statement(statement)
                    if isinstance(statement, ast.AnnAssign) and isinstance(
                        statement.target, ast.Name
                    ):
                        note = string_constants.annotation(flow, statement.annotation)
                        made = flow.scope.names.get(statement.target.id, UNKNOWN)
                        filled = type(flow.nodes.table[made]) is Filled
                        if note and not filled:
                            record.declared.setdefault(statement.target.id, note)
                    self.constants(statement)
                    names = flow.scope.names
                    for name in names if bound is None else bound:
                        value = names.get(name, -1)
                        if before_names.get(name, -1) == value:
                            continue
                        values = record.attributes.setdefault(name, [])
                        if value not in values:
                            values.append(value)
                        record.lines.setdefault(name, statement.lineno)
                        flow.defined.add(name)
                        held = flow.nodes.table[value]
                        if type(held) is LocalFunction:
                            record.methods.setdefault(name, held.function)
                        elif type(held) is Wrapped and held.kind in ("static", "class"):
                            self.wrapped(name, held)

    def constants(self, statement: ast.stmt) -> None:
        """Remember what a name of the body is set to, where that tells something by its text."""
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                pass
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                pass
            case _:
                return
        flow, key = self.flow, (self.qual, name)
        if name in containers.filled_names(flow):
            return  # what it is made with is not all that it holds
        shown = string_constants.is_display(flow, value)
        if shown and key not in flow.class_constants and name not in self.record.attributes:
            flow.class_constants[key] = value

    def wrapped(self, name: str, held: Wrapped) -> None:
        """``name = staticmethod(f)``: a method of another kind than the function that it is."""
        functions = self.flow.file.functions
        made = self.flow.nodes.table[held.value]
        if type(made) is LocalFunction and name not in self.record.methods:
            self.record.methods[name] = len(functions)
            functions.append(
                msgspec.structs.replace(functions[made.function], kind=held.kind, owner=self.qual)
            )

    def method(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        flow, record = self.flow, self.record
        class_scope = flow.scope
        names = [guards.last_name(d) for d in node.decorator_list]
        # a method's body sees the names around the class, its decorators those of the body
        value = self.define(node, class_scope)
        if any("abstract" in name for name in names):
            record.abstract = True
        if node.name in ("__getattr__", "__getattribute__"):
            record.open = True
        function = flow.nodes.table[value]
        assert type(function) is LocalFunction
        index = function.function
        if flow.file.functions[index].kind == "overload" and node.name in record.methods:
            return
        record.methods[node.name] = index
        record.lines[node.name] = node.lineno
        flow.defined.add(node.name)
        class_scope.names[node.name] = value

    def define(self, node: ast.FunctionDef | ast.AsyncFunctionDef, scope: Scope) -> int:
        flow = self.flow
        value = define(flow, node, self.qual)
        # the queued body must not see class-level names as free names
        queued = flow.pending[-1][0] if flow.pending else None
        for pending_scope, _, pending_node, _ in reversed(flow.pending):
            if pending_node is node:
                queued = pending_scope
                break
        if queued is not None and queued.parent is scope:
            queued.parent = self.outer
        return value


def _arguments(node: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.arg]:
    """All parameters of a function but those with a star."""
    return [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]


def _bound(statement: ast.stmt) -> list[str] | None:
    """Names that a statement of a class body binds; None where only what it does tells."""
    if not isinstance(statement, (ast.Assign, ast.AnnAssign)):
        return None
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    found: dict[str, None] = {}
    for part in ast.walk(statement):
        if isinstance(part, ast.NamedExpr):
            found[part.target.id] = None
    for target in targets:
        for part in ast.walk(target):
            if isinstance(part, ast.Name):
                found[part.id] = None
    return list(found)
