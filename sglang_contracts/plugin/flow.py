"""One pass over a module's syntax tree: what flows where, and which uses that makes.

It is a small abstract interpreter over symbolic values (:mod:`sglang_contracts.plugin.model`).
Statements are walked in order; branches are walked apart and joined by a node that keeps the
condition, so that a release decides later which branch it takes. Function bodies are walked when
the module's own names are all known. Nothing is executed and nothing upstream is looked at.
"""

# ruff: noqa: N802, N815, D102 - methods are named after the syntax nodes they walk
from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from sglang_contracts.plugin import guards
from sglang_contracts.plugin.model import (
    UNKNOWN,
    Attempt,
    File,
    Form,
    Function,
    Guard,
    OwnClass,
    Parameter,
    Use,
    UseKind,
)
from sglang_contracts.plugin.nodes import Nodes

DOTTED = re.compile(r"sglang(?:\.[A-Za-z_]\w*)+(?::[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)?\Z")
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*\Z")
_BUILTINS = frozenset(dir(builtins))
_OTHER_FRAMEWORKS = frozenset(
    {"vllm", "tensorrt_llm", "lmdeploy", "transformers_neuronx", "mlc_llm"}
)
_ELEMENTS = frozenset(
    {
        "List",
        "list",
        "Sequence",
        "Iterable",
        "Iterator",
        "Set",
        "set",
        "FrozenSet",
        "frozenset",
        "Deque",
        "deque",
        "Collection",
        "MutableSequence",
        "AsyncIterator",
        "AsyncIterable",
        "Generator",
        "AsyncGenerator",
        "KeysView",
        "ValuesView",
    }
)
_MAPPINGS = frozenset(
    {"Dict", "dict", "Mapping", "MutableMapping", "DefaultDict", "defaultdict", "OrderedDict"}
)
_TRANSPARENT = frozenset(
    {
        "Optional",
        "ClassVar",
        "Final",
        "Annotated",
        "Awaitable",
        "Coroutine",
        "Required",
        "NotRequired",
        "ReadOnly",
        "InitVar",
        "ContextManager",
        "AsyncContextManager",
        "ref",
    }
)
_LITERALS = {
    "int": "int",
    "float": "float",
    "str": "str",
    "bool": "bool",
    "bytes": "str",
    "list": "list",
    "dict": "dict",
    "tuple": "tuple",
    "set": "list",
    "len": "int",
    "sum": "number",
    "abs": "number",
    "round": "number",
    "sorted": "list",
    "range": "list",
    "repr": "str",
}
_HARMLESS_CALLS = frozenset({"getLogger", "get_logger", "setLevel", "init_logger", "entry_points"})
_HOOK_KINDS = frozenset({"replace", "around", "before", "after"})


class Scope:
    """The names of one function body (or of the module)."""

    __slots__ = ("constants", "dicts", "function", "names", "narrowed", "owner", "parent")

    def __init__(self, parent: Scope | None, function: int, owner: str) -> None:
        self.names: dict[str, int] = {}
        self.constants: dict[str, ast.expr] = {}
        self.narrowed: dict[str, int] = {}
        self.dicts: dict[str, dict[str, int]] = {}
        """Names bound to ``dict(a=…)`` or a dict display, with their keys."""
        self.parent = parent
        self.function = function
        self.owner = owner

    def find(self, name: str) -> int | None:
        """The node of a name, in this scope or one around it."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.names:
                return scope.names[name]
            scope = scope.parent
        return None

    def constant(self, name: str) -> ast.expr | None:
        """The constant display a name is bound to, where there is exactly one."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.constants:
                return scope.constants[name]
            if name in scope.names:
                return None
            scope = scope.parent
        return None


def dotted_name(node: ast.expr) -> str:
    """``a.b.c`` for a chain of names; empty for anything else."""
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return ""
    parts.append(node.id)
    return ".".join(reversed(parts))


class Flow:
    """Walks one module; :meth:`run` fills the file's record."""

    def __init__(self, file: File, tree: ast.Module, own_modules: frozenset[str]) -> None:
        self.file = file
        self.tree = tree
        self.own_modules = own_modules
        self.nodes = Nodes()
        self.scope = Scope(None, -1, "")
        self.guard = 0
        self.future = False
        self.quiet = 0
        self.loops: list[ast.stmt] = []
        self.pending: list[tuple[Scope, int, ast.AST, int]] = []
        self.forms: dict[tuple[object, ...], int] = {}
        self.lambdas: dict[int, int] = {}
        self.groups: dict[tuple[int, int], int] = {}
        self.docs: set[int] = set()
        self.seen_uses: set[tuple[int, ...]] = set()
        self.mentioned: dict[int, set[str]] = {-1: set()}
        self.strings: set[str] = set()
        self.defined: set[str] = set()
        self.frameworks: set[str] = set()
        self.closed: dict[int, Scope] = {}
        self.package = file.path.endswith("__init__.py")
        file.guards.append(Guard(parent=0, kind=""))

    # -- the module ----------------------------------------------------------------------------

    def run(self) -> None:
        """Walk the module, then every function body in it."""
        for node in ast.walk(self.tree):
            body = getattr(node, "body", None)
            if isinstance(body, list) and body and isinstance(body[0], ast.Expr):
                value = body[0].value
                if isinstance(value, ast.Constant) and isinstance(value.value, str):
                    self.docs.add(id(value))
        self.block(self.tree.body)
        module_names = dict(self.scope.names)
        while self.pending:
            scope, guard, node, index = self.pending.pop(0)
            self.scope, self.guard, self.loops = scope, guard, []
            self.function_body(node, index)
        file = self.file
        file.nodes = self.nodes.table
        file.names = module_names
        everything = set().union(*self.mentioned.values())
        file.mentions = {index: sorted(names) for index, names in self.mentioned.items()}
        file.mentions[-1] = sorted(everything)
        file.strings = sorted(self.strings)
        file.defines = sorted(self.defined)
        file.foreign = bool(self.frameworks - {"sglang"}) and "sglang" not in self.frameworks

    def use(self, kind: UseKind, node: int, where: ast.AST, **more: object) -> None:
        """Record one use, once."""
        if self.quiet or node == UNKNOWN:
            return
        line = getattr(where, "lineno", 1)
        column = getattr(where, "col_offset", 0) + 1
        if isinstance(where, ast.Attribute):  # a chain over several lines: where the name stands
            line = where.end_lineno or line
        key = (kind, node, line, column, self.guard, hash(str(sorted(more.items()))))
        if key in self.seen_uses:
            return
        self.seen_uses.add(key)
        self.file.uses.append(
            Use(kind, node, line, column, guard=self.guard, function=self.scope.function, **more)  # type: ignore[arg-type]
        )

    def mention(self, name: str) -> None:
        """Remember that a name stands in the present function."""
        self.mentioned.setdefault(self.scope.function, set()).add(name)

    def where(self, parent: int, **more: object) -> int:
        """A guard, chained."""
        self.file.guards.append(Guard(parent=parent, **more))  # type: ignore[arg-type]
        return len(self.file.guards) - 1

    @contextmanager
    def under(self, guard: int) -> Iterator[None]:
        """Walk something under a guard."""
        before, self.guard = self.guard, guard
        try:
            yield
        finally:
            self.guard = before

    @contextmanager
    def silently(self) -> Iterator[None]:
        """Work out values without recording uses."""
        self.quiet += 1
        try:
            yield
        finally:
            self.quiet -= 1

    # -- statements ----------------------------------------------------------------------------

    def block(self, body: Sequence[ast.stmt]) -> None:
        """Statements in order; a branch that leaves guards what follows it."""
        outer = self.guard
        for statement in body:
            self.statement(statement)
        self.guard = outer

    def statement(self, node: ast.stmt) -> None:
        """One statement."""
        method = getattr(self, "do_" + type(node).__name__, None)
        if method is not None:
            method(node)
            return
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                self.expr(child)
            elif isinstance(child, ast.stmt):
                self.statement(child)

    def do_Expr(self, node: ast.Expr) -> None:
        if id(node.value) not in self.docs:
            self.expr(node.value)

    def do_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            top = alias.name.partition(".")[0]
            self.frameworks.add(top) if top in _OTHER_FRAMEWORKS or top == "sglang" else None
            if top == "sglang" and not self.is_own(alias.name):
                value = self.nodes.add("import", alias.name, "")
                self.use(UseKind.IMPORT, value, node)
                bound = alias.asname or top
                self.scope.names[bound] = (
                    value if alias.asname else self.nodes.add("import", "sglang", "")
                )
            elif self.is_own(alias.name):
                target = alias.name if alias.asname else top
                self.scope.names[alias.asname or top] = self.nodes.add("own", target, "")
            else:
                self.scope.names[alias.asname or top] = self.foreign(alias.name, "")
            self.scope.constants.pop(alias.asname or top, None)

    def foreign(self, module: str, name: str) -> int:
        """What other libraries bind; only the few that matter have a value."""
        if module in {"importlib.metadata", "importlib_metadata", "pkg_resources"} and name in {
            "version",
            "get_distribution",
        }:
            return self.nodes.add("literal", f"{module}.{name}")
        return self.nodes.add("foreign", module, name)

    def is_own(self, module: str) -> bool:
        """Whether a dotted module is a file of the plugin."""
        return module in self.own_modules

    def do_ImportFrom(self, node: ast.ImportFrom) -> None:
        module = node.module or ""
        if node.level:
            parts = self.file.module.split(".")
            keep = len(parts) - node.level + (1 if self.package else 0)
            base = ".".join(parts[: max(keep, 0)])
            module = f"{base}.{module}".strip(".") if module else base
        if module == "__future__":
            self.future |= any(alias.name == "annotations" for alias in node.names)
            return
        top = module.partition(".")[0]
        if not node.level and (top in _OTHER_FRAMEWORKS or top == "sglang"):
            self.frameworks.add(top)
        own = bool(node.level) or self.is_own(module)
        upstream = top == "sglang" and not own
        for alias in node.names:
            bound = alias.asname or alias.name
            if alias.name == "*":
                if upstream:
                    self.use(UseKind.IMPORT, self.nodes.add("import", module, ""), node)
                    self.file.stars.append(":" + module)
                elif own:
                    self.file.stars.append(module)
                continue
            if upstream:
                value = self.nodes.add("import", module, alias.name)
                place = alias if hasattr(alias, "lineno") else node
                self.use(UseKind.IMPORT, value, place)
            elif own:
                value = self.nodes.add("own", module, alias.name)
            else:
                value = self.foreign(module, alias.name)
            self.bind(bound, value)

    def bind(self, name: str, value: int) -> None:
        """Bind a name in the present scope."""
        self.scope.names[name] = value
        self.scope.constants.pop(name, None)
        for key in [k for k in self.scope.narrowed if k == name or k.startswith(name + ".")]:
            del self.scope.narrowed[key]

    def do_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        value = self.define(node, "")
        self.scope.names[node.name] = value
        self.scope.constants.pop(node.name, None)

    do_AsyncFunctionDef = do_FunctionDef

    def define(self, node: ast.FunctionDef | ast.AsyncFunctionDef, owner: str) -> int:
        """Record a function; its body is walked later."""
        self.mention(node.name)
        kind, wrapped, hooks = "", False, []
        for decorator in node.decorator_list:
            name = guards.last_name(
                decorator.func if isinstance(decorator, ast.Call) else decorator
            )
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
                wrapped = True
            value = self.expr(decorator)
            if isinstance(decorator, ast.Call):
                hooks.append((decorator, value))
        index = self.signature(node, node.args, node.name, owner, kind)
        record = self.file.functions[index]
        record.wrapped = wrapped
        body = [
            each
            for each in node.body
            if not (isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant))
        ]
        record.stub = len(body) == 1 and isinstance(body[0], ast.Raise)
        if node.returns is not None:
            record.annotation = self.annotation(node.returns)
        value = self.nodes.add("ownfunc", index)
        for decorator, _ in hooks:
            if self.hook(decorator, value, decorator=True):
                record.wrapped = False
        return value

    def signature(
        self,
        node: ast.AST,
        args: ast.arguments,
        name: str,
        owner: str,
        kind: str,
    ) -> int:
        """Make the record of a function and queue its body."""
        around = self.scope.function
        prefix = ""
        if owner:
            prefix = owner + "."
        elif around >= 0:
            prefix = self.file.functions[around].qual + ".<locals>."
        index = len(self.file.functions)
        record = Function(
            prefix + name,
            getattr(node, "lineno", 1),
            owner=owner,
            kind=kind,
            is_async=isinstance(node, ast.AsyncFunctionDef),
            guard=self.guard,
        )
        self.file.functions.append(record)
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
                self.expr(default)
        parent = self.scope
        scope = Scope(parent, index, owner or (parent.owner if around >= 0 else ""))
        for position, (arg, number, has_default) in enumerate(rows):
            note = self.annotation(arg.annotation) if arg.annotation is not None else UNKNOWN
            record.parameters.append(Parameter(arg.arg, number, has_default, note))
            if number in (2, 4):
                scope.names[arg.arg] = UNKNOWN
            else:
                scope.names[arg.arg] = self.nodes.add("param", index, position)
        if owner and record.parameters and kind != "static":
            first = record.parameters[0].name
            if record.parameters[0].kind <= 1:
                special = (
                    "ownclass"
                    if kind == "class"
                    or name
                    in {
                        "__new__",
                        "__init_subclass__",
                        "__class_getitem__",
                    }
                    else "self"
                )
                scope.names[first] = self.nodes.add(special, owner)
        self.pending.append((scope, self.guard, node, index))
        return index

    def function_body(self, node: ast.AST, index: int) -> None:
        """Walk a queued body."""
        if isinstance(node, ast.Lambda):
            self.file.functions[index].returns.append(self.expr(node.body))
            return
        assert isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        record = self.file.functions[index]
        self.mentioned.setdefault(index, set()).update(p.name for p in record.parameters)
        self.block(node.body)

    def do_ClassDef(self, node: ast.ClassDef) -> None:
        around = self.scope.owner
        prefix = around + "." if around and self.scope.function == -2 else ""
        if not prefix and self.scope.function >= 0:
            prefix = self.file.functions[self.scope.function].qual + ".<locals>."
        qual = prefix + node.name
        record = OwnClass(qual, node.lineno, guard=self.guard)
        for base in node.bases:
            target = base.value if isinstance(base, ast.Subscript) else base
            value = self.expr(target)
            if isinstance(base, ast.Starred):
                record.open = True
            if guards.last_name(target) not in {"object", "ABC", "Generic", "Protocol"}:
                record.bases.append(value)
                if value == UNKNOWN and guards.last_name(target) not in _BUILTINS:
                    record.open = True
        for keyword in node.keywords:
            self.expr(keyword.value)
        for decorator in node.decorator_list:
            self.expr(decorator)
            if guards.last_name(
                decorator.func if isinstance(decorator, ast.Call) else decorator
            ) not in {"dataclass", "final", "runtime_checkable", "total_ordering"}:
                record.decorated = True
        if qual in self.file.classes:
            record.open = True  # two forms, by a condition: what one lacks the other may have
            for name, values in self.file.classes[qual].attributes.items():
                record.attributes.setdefault(name, []).extend(values)
        self.file.classes[qual] = record
        value = self.nodes.add("ownclass", qual)
        self.scope.names[node.name] = value
        self.scope.constants.pop(node.name, None)
        outer = self.scope
        # names of a class body are not seen from its methods: the body's own scope hangs beside
        body = Scope(outer, -2, qual)
        body.function = outer.function
        methods = _ClassScope(self, outer, qual, record)
        methods.walk(node.body)
        for decorator in node.decorator_list:
            if isinstance(decorator, ast.Call):
                self.hook(decorator, value, decorator=True)

    def do_Return(self, node: ast.Return) -> None:
        value = self.expr(node.value) if node.value is not None else self.nodes.literal("None")
        if self.scope.function >= 0:
            self.file.functions[self.scope.function].returns.append(value)

    def do_Assign(self, node: ast.Assign) -> None:
        value = self.expr(node.value)
        for target in node.targets:
            self.assign(target, value, node.value)

    def do_AnnAssign(self, node: ast.AnnAssign) -> None:
        note = self.annotation(node.annotation)
        value = self.expr(node.value) if node.value is not None else UNKNOWN
        self.assign(node.target, note or value, node.value)

    def do_AugAssign(self, node: ast.AugAssign) -> None:
        self.expr(node.value)
        with self.silently():
            value = self.expr(node.target)
        if isinstance(node.target, ast.Attribute):
            self.expr(
                ast.copy_location(
                    ast.Attribute(node.target.value, node.target.attr, ast.Load()), node.target
                )
            )
        self.assign(node.target, self.nodes.literal("number") if value else UNKNOWN, None)

    def assign(self, target: ast.expr, value: int, source: ast.expr | None) -> None:
        """Bind a target."""
        match target:
            case ast.Name(id=name):
                self.bind(name, value)
                self.mention(name)
                self.scope.dicts.pop(name, None)
                if source is not None and self.is_display(source):
                    self.scope.constants[name] = source
                keys = self.keys_of(source)
                if keys is not None:
                    self.scope.dicts[name] = keys
            case ast.Attribute(value=base_expr, attr=attr):
                base = self.expr(base_expr)
                self.mention(attr)
                self.defined.add(attr)
                key = dotted_name(target)
                if key:
                    self.scope.narrowed[key] = value
                if base == UNKNOWN:
                    name = guards.last_name(base_expr)
                    if not name or name in _BUILTINS:
                        return
                    base = self.nodes.add("known", name)
                if self.nodes.op(base) in ("self", "ownclass"):
                    self.keep(str(self.nodes.table[base][1]), attr, value, target.lineno)
                self.use(UseKind.WRITE, self.nodes.add("attr", base, attr), target, value=value)
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                self.unpack(elements, value, source, target)
            case ast.Subscript(value=base_expr, slice=key_expr):
                base = self.expr(base_expr)
                self.expr(key_expr)
                if isinstance(base_expr, ast.Name) and base_expr.id in self.scope.dicts:
                    for key in self.texts(key_expr):
                        if key != "*":
                            self.scope.dicts[base_expr.id][key] = value
                if base == UNKNOWN:
                    return
                for key in self.texts(key_expr):
                    if key == "*":
                        continue
                    self.use(UseKind.REGISTER, base, target, name=key, value=value)
            case ast.Starred(value=inner):
                self.assign(inner, UNKNOWN, None)
            case _:
                self.expr(target)

    def keep(self, qual: str, attr: str, value: int, line: int) -> None:
        """Remember what an own class's attribute holds."""
        record = self.file.classes.get(qual)
        if record is None:
            return
        values = record.attributes.setdefault(attr, [])
        if value not in values:
            values.append(value)
        record.lines.setdefault(attr, line)

    def unpack(
        self, elements: list[ast.expr], value: int, source: ast.expr | None, where: ast.AST
    ) -> None:
        """Bind several targets at once."""
        if isinstance(source, (ast.Tuple, ast.List)) and len(source.elts) == len(elements):
            with self.silently():
                values = [self.expr(each) for each in source.elts]
            for each, one, text in zip(elements, values, source.elts, strict=True):
                self.assign(each, one, text)
            return
        star = any(isinstance(each, ast.Starred) for each in elements)
        if value != UNKNOWN and self.nodes.op(value) != "tuple":
            least = len(elements) - 1 if star else len(elements)
            self.use(UseKind.UNPACK, value, where, count=-least - 1 if star else least)
        for position, each in enumerate(elements):
            one = UNKNOWN
            if value != UNKNOWN and not star:
                one = self.nodes.add("unpack", value, position, len(elements))
            self.assign(each, one, None)

    def do_Delete(self, node: ast.Delete) -> None:
        for target in node.targets:
            if isinstance(target, ast.Name):
                self.scope.names.pop(target.id, None)
            elif isinstance(target, ast.Attribute):
                base = self.expr(target.value)
                if base:
                    self.use(UseKind.READ, self.nodes.add("attr", base, target.attr), target)

    def do_Global(self, node: ast.Global) -> None:
        pass

    def do_For(self, node: ast.For | ast.AsyncFor) -> None:
        value = self.expr(node.iter)
        self.loop_over(node.target, node.iter, value)
        self.group_choice(node)
        self.loops.append(node)
        self.branch(node.body)
        self.loops.pop()
        self.block(node.orelse)

    do_AsyncFor = do_For

    def loop_over(self, target: ast.expr, iterable: ast.expr, value: int) -> None:
        """Bind a loop's target to the elements of what it runs over."""
        element = self.nodes.add("iter", value) if value != UNKNOWN else UNKNOWN
        items = self.display(iterable)
        call = iterable.func if isinstance(iterable, ast.Call) else None
        if isinstance(call, ast.Attribute) and call.attr in {"items", "keys", "values"}:
            mapping = self.display(call.value)
            if isinstance(mapping, ast.Dict):
                keys = [key for key in mapping.keys if key is not None]
                if call.attr == "keys":
                    items = ast.copy_location(ast.Tuple(keys, ast.Load()), mapping)
                elif call.attr == "values":
                    items = ast.copy_location(ast.Tuple(mapping.values, ast.Load()), mapping)
                elif isinstance(target, ast.Tuple) and len(target.elts) == 2:
                    with self.silently():
                        held = self.nodes.union(self.expr(v) for v in mapping.values)
                    self.assign(target.elts[0], self.nodes.literal("str"), None)
                    self.assign(target.elts[1], held, None)
                    self.choices(target.elts[0], keys)
                    self.choices(target.elts[1], mapping.values)
                    return
        if isinstance(items, (ast.Tuple, ast.List, ast.Set)):
            with self.silently():
                element = self.nodes.union(self.expr(each) for each in items.elts)
            self.assign(target, element, None)
            if isinstance(target, ast.Tuple):
                for position, name in enumerate(target.elts):
                    column = [
                        each.elts[position]
                        for each in items.elts
                        if isinstance(each, (ast.Tuple, ast.List)) and len(each.elts) > position
                    ]
                    if len(column) == len(items.elts):
                        with self.silently():
                            one = self.nodes.union(self.expr(each) for each in column)
                        self.assign(name, one, None)
                        self.choices(name, column)
            else:
                self.choices(target, items.elts, items)
            return
        if isinstance(items, ast.Dict):
            self.assign(target, self.nodes.literal("str"), None)
            self.choices(target, [key for key in items.keys if key is not None])
            return
        self.assign(target, element, None)

    def choices(
        self, target: ast.expr, values: Sequence[ast.expr], shown: ast.expr | None = None
    ) -> None:
        """A loop variable that runs over constants."""
        if isinstance(target, ast.Name) and values:
            choice = ast.copy_location(ast.Set(list(values)), values[0])
            choice.sglang_choice = True  # type: ignore[attr-defined]
            choice.sglang_group = self.groups.get(  # type: ignore[attr-defined]
                (shown.lineno, shown.col_offset) if shown is not None else (-1, -1), 0
            )
            self.scope.constants[target.id] = choice

    def group_choice(self, node: ast.For | ast.AsyncFor) -> None:
        """A loop over alternatives that stops at the first one: one of them is enough."""
        display = self.display(node.iter)
        if display is None or not any(
            isinstance(each, (ast.Break, ast.Return)) for each in ast.walk(node)
        ):
            return
        group = self.groups.get((display.lineno, display.col_offset))
        if group is not None and group not in self.file.groups:
            self.file.groups.append(group)

    def branch(self, body: Sequence[ast.stmt]) -> None:
        """A body that may or may not run: what it binds is joined with what was there."""
        before = dict(self.scope.names)
        narrowed = dict(self.scope.narrowed)
        self.block(body)
        after = self.scope.names
        for name, value in before.items():
            other = after.get(name, value)
            if other != value:
                after[name] = self.both(value, other)
        self.scope.narrowed = {k: v for k, v in narrowed.items() if self.scope.narrowed.get(k) == v}

    def both(self, one: int, other: int) -> int:
        """Either of two values; what is unknown in one is unknown."""
        if one == UNKNOWN or other == UNKNOWN:
            return UNKNOWN
        return self.nodes.union((one, other))

    def do_While(self, node: ast.While) -> None:
        self.expr(node.test)
        self.loops.append(node)
        self.branch(node.body)
        self.loops.pop()
        self.block(node.orelse)

    def do_With(self, node: ast.With | ast.AsyncWith) -> None:
        suppressed: list[str] = []
        for item in node.items:
            value = self.expr(item.context_expr)
            if (
                isinstance(item.context_expr, ast.Call)
                and guards.last_name(item.context_expr.func) == "suppress"
            ):
                for arg in item.context_expr.args:
                    suppressed += guards.caught(arg)
            if item.optional_vars is not None:
                entered = self.nodes.add("enter", value) if value != UNKNOWN else UNKNOWN
                self.assign(item.optional_vars, entered, None)
        if suppressed:
            attempt = self.attempt(Attempt(node.lineno, suppressed))
            guard = self.where(self.guard, kind="try", condition=attempt, line=node.lineno)
            with self.under(guard):
                self.block(node.body)
        else:
            self.block(node.body)

    do_AsyncWith = do_With

    def attempt(self, record: Attempt) -> int:
        """Keep a ``try``; its number."""
        self.file.attempts.append(record)
        return len(self.file.attempts) - 1

    def do_Try(self, node: ast.Try) -> None:
        if not node.handlers:
            self.block(node.body)
            self.block(node.finalbody)
            return
        names: list[str] = []
        relevant = [h for h in node.handlers if self.relevant(h)] or node.handlers
        for handler in node.handlers:
            names += guards.caught(handler.type)
        way_out = any(guards.is_way_out(h.body) for h in relevant)
        index = self.attempt(
            Attempt(
                node.lineno,
                names,
                way_out=way_out or self.later_way_out(node, relevant),
                raises=all(
                    guards.raises(h.body) and not guards.is_way_out(h.body[:-1]) for h in relevant
                ),
            )
        )
        before = dict(self.scope.names)
        constants = dict(self.scope.constants)
        guard = self.where(self.guard, kind="try", condition=index, line=node.lineno)
        with self.under(guard):
            self.block(node.body)
        went = self.where(
            self.guard, kind="if", condition=self.nodes.add("went", index), line=node.lineno
        )
        with self.under(went):
            self.block(node.orelse)
        after = dict(self.scope.names)
        after_constants = dict(self.scope.constants)
        leaves = all(guards.leaves(h.body) for h in node.handlers)
        outcomes: list[dict[str, int]] = []
        for handler in node.handlers:
            self.scope.names = dict(before)
            self.scope.constants = dict(constants)
            if handler.name:
                self.bind(handler.name, UNKNOWN)
            kind = self.where(self.guard, kind="handler", condition=index, line=handler.lineno)
            with self.under(kind):
                if handler.type is not None:
                    with self.silently():
                        self.expr(handler.type)
                self.block(handler.body)
            if not guards.leaves(handler.body) and handler in relevant:
                outcomes.append(dict(self.scope.names))
        self.scope.constants = after_constants
        joined = dict(after)
        for outcome in outcomes[:1]:
            for name in set(after) | set(outcome):
                one, other = after.get(name, UNKNOWN), outcome.get(name, UNKNOWN)
                if one != other:
                    joined[name] = self.nodes.add("tried", index, one, other)
        self.scope.names = joined
        self.block(node.finalbody)
        if leaves and not guards.leaves(node.body):
            self.guard = went
        elif guards.leaves([*node.body, *node.orelse]) and not leaves:
            # what follows runs only where the attempt failed
            self.guard = self.where(
                self.guard,
                kind="if",
                condition=self.nodes.add("went", index),
                positive=False,
                line=node.lineno,
            )

    do_TryStar = do_Try

    def relevant(self, handler: ast.ExceptHandler) -> bool:
        """Whether a handler catches what a missing name raises."""
        names = set(guards.caught(handler.type))
        return bool(names & (guards.IMPORT_ERRORS | guards.ATTRIBUTE_ERRORS))

    def later_way_out(self, node: ast.Try, handlers: Sequence[ast.ExceptHandler]) -> bool:
        """A handler that passes, where the body returned: what follows is the other way."""
        if not guards.leaves(node.body) and not (
            node.body and isinstance(node.body[-1], (ast.Break, ast.Return))
        ):
            return False
        if not isinstance(node.body[-1], ast.Return):
            return False
        following = self.following(node)
        return bool(following) and guards.is_way_out(following)

    def following(self, node: ast.stmt) -> list[ast.stmt]:
        """The statements after one in its own block."""
        if not hasattr(self, "_after"):
            self._after: dict[int, list[ast.stmt]] = {}
            for parent in ast.walk(self.tree):
                for field in ("body", "orelse", "finalbody"):
                    block = getattr(parent, field, None)
                    if isinstance(block, list):
                        for position, each in enumerate(block):
                            self._after[id(each)] = block[position + 1 :]
        return self._after.get(id(node), [])

    def do_If(self, node: ast.If) -> None:
        if self.type_checking(node.test):
            guard = self.where(self.guard, kind="typing", line=node.lineno)
            with self.under(guard):
                self.block(node.body)
            after = dict(self.scope.names)
            self.block(node.orelse)
            for name, value in after.items():
                self.scope.names[name] = value or self.scope.names.get(name, UNKNOWN)
            return
        condition = self.condition(node.test)
        self.expr(node.test)
        known = condition != UNKNOWN
        following = self.following(node)
        else_out = (
            guards.is_way_out(node.orelse)
            or guards.raises(node.orelse)
            or (not node.orelse and guards.leaves(node.body) and guards.is_way_out(following))
        )
        body_out = guards.is_way_out(node.body) or guards.raises(node.body)
        positive = negative = self.guard
        if known:
            positive = self.where(
                self.guard, kind="if", condition=condition, way_out=else_out, line=node.lineno
            )
            negative = self.where(
                self.guard,
                kind="if",
                condition=condition,
                positive=False,
                way_out=body_out,
                line=node.lineno,
            )
        before = dict(self.scope.names)
        narrowed_before = dict(self.scope.narrowed)
        constants = dict(self.scope.constants)
        with self.under(positive):
            self.narrow(node.test, True)
            self.block(node.body)
        after, narrowed_after = self.scope.names, self.scope.narrowed
        after_constants = self.scope.constants
        self.scope.names = dict(before)
        self.scope.narrowed = dict(narrowed_before)
        self.scope.constants = dict(constants)
        with self.under(negative):
            self.narrow(node.test, False)
            self.block(node.orelse)
        if guards.leaves(node.body):
            # what follows runs only where the condition did not hold
            if known:
                self.guard = negative
            return
        if node.orelse and guards.leaves(node.orelse):
            self.scope.names, self.scope.narrowed = after, narrowed_after
            self.scope.constants = after_constants
            if known:
                self.guard = positive
            return
        other = self.scope.names
        joined = {}
        for name in set(after) | set(other):
            one, two = after.get(name, UNKNOWN), other.get(name, UNKNOWN)
            if one == two:
                joined[name] = one
            elif known:
                joined[name] = self.nodes.add("select", condition, one, two)
            else:
                joined[name] = self.both(one, two)
                if name not in other and name not in before:
                    joined[name] = one
        # a parameter narrowed by isinstance is what it was again
        for name, value in before.items():
            if after.get(name) in self.narrow_values(node.test):
                joined[name] = value
        self.scope.names = joined
        self.scope.narrowed = {
            k: v for k, v in self.scope.narrowed.items() if narrowed_after.get(k) == v
        }
        self.scope.constants = {
            k: v for k, v in after_constants.items() if self.scope.constants.get(k) is v
        }

    def narrow_values(self, test: ast.expr) -> set[int]:
        """Nodes that an ``isinstance`` test gives its subject."""
        found: set[int] = set()
        for part in test.values if isinstance(test, ast.BoolOp) else [test]:
            if (
                isinstance(part, ast.Call)
                and isinstance(part.func, ast.Name)
                and part.func.id == "isinstance"
                and len(part.args) == 2
            ):
                with self.silently():
                    found.add(self.instance_of(part.args[1]))
        return found - {UNKNOWN}

    def do_Assert(self, node: ast.Assert) -> None:
        self.expr(node.test)
        self.narrow(node.test, True)

    def do_Match(self, node: ast.Match) -> None:
        self.expr(node.subject)
        before = dict(self.scope.names)
        for case in node.cases:
            self.scope.names = dict(before)
            for part in ast.walk(case.pattern):
                name = getattr(part, "name", None)
                if isinstance(name, str):
                    self.bind(name, UNKNOWN)
                if isinstance(part, ast.MatchValue):
                    self.expr(part.value)
                if isinstance(part, ast.MatchClass):
                    self.expr(part.cls)
            if case.guard is not None:
                self.expr(case.guard)
            self.block(case.body)
        self.scope.names = {
            name: value for name, value in before.items() if self.scope.names.get(name) == value
        } | {name: UNKNOWN for name in self.scope.names if name not in before}

    # -- conditions ----------------------------------------------------------------------------

    def type_checking(self, test: ast.expr) -> bool:
        """Whether a test is ``TYPE_CHECKING``."""
        return guards.last_name(test) == "TYPE_CHECKING"

    def condition(self, test: ast.expr) -> int:
        """The node of a condition that a release decides; 0 for any other."""
        with self.silently():
            return self._condition(test)

    def _condition(self, test: ast.expr) -> int:
        match test:
            case ast.UnaryOp(op=ast.Not(), operand=inner):
                negated = self._condition(inner)
                return self.nodes.add("not", negated) if negated else UNKNOWN
            case ast.BoolOp(op=op, values=values):
                parts = [self._condition(each) for each in values]
                known = [part for part in parts if part]
                if isinstance(op, ast.And) and known:
                    # what is unknown may be either: only "false" is then certain
                    extra = () if len(known) == len(parts) else (UNKNOWN,)
                    return self.nodes.add("and", *known, *extra)
                if isinstance(op, ast.Or) and known:
                    extra = () if len(known) == len(parts) else (UNKNOWN,)
                    return self.nodes.add("or", *known, *extra)
                return UNKNOWN
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                return self.comparison(left, op, right)
            case ast.Call(func=ast.Name(id="hasattr"), args=[subject, name]):
                base = self.subject(subject)
                names = self.texts(name)
                if base and names and "*" not in names:
                    found = [self.nodes.add("has", base, each) for each in names]
                    return found[0] if len(found) == 1 else UNKNOWN
                return UNKNOWN
            case ast.Call(func=func, args=[]) if isinstance(func, (ast.Name, ast.Attribute)):
                callee = self.expr(func)
                if callee and self.nodes.op(callee) in ("ownfunc", "own", "attr"):
                    return self.nodes.add("truth", self.nodes.add("call", callee, self.form()))
                return UNKNOWN
            case ast.Call(func=ast.Name(id="callable"), args=[subject]):
                return self._condition(subject)
            case ast.NamedExpr(value=value):
                return self._condition(value)
            case ast.Constant(value=value):
                return self.nodes.add("always") if value else self.nodes.add("never")
            case ast.Name() | ast.Attribute():
                value = self.expr(test)
                if value and self.decided(value):
                    return self.nodes.add("truth", value)
                return UNKNOWN
            case _:
                return UNKNOWN

    def decided(self, node: int, depth: int = 0) -> bool:
        """Whether a release alone decides the truth of a value."""
        op, *rest = self.nodes.table[node]
        if op in {
            "tried",
            "version-is",
            "has",
            "not",
            "and",
            "or",
            "went",
            "always",
            "never",
            "truth",
            "own",
            "probe",
        }:
            return True
        if op == "select" and depth < 4:
            return True
        return bool(op == "literal" and rest[0] in ("None", "true", "false"))

    def comparison(self, left: ast.expr, op: ast.cmpop, right: ast.expr) -> int:
        """``version >= "0.5.13"``, ``X is not None``."""
        if (
            isinstance(right, ast.Constant)
            and right.value is None
            and isinstance(op, (ast.Is, ast.IsNot, ast.Eq, ast.NotEq))
        ):
            value = self.expr(left)
            if not value or not self.decided(value):
                return UNKNOWN
            present = self.nodes.add("truth", value)
            return (
                present
                if isinstance(op, (ast.IsNot, ast.NotEq))
                else self.nodes.add("not", present)
            )
        symbols = {
            ast.Lt: "<",
            ast.LtE: "<=",
            ast.Gt: ">",
            ast.GtE: ">=",
            ast.Eq: "==",
            ast.NotEq: "!=",
        }
        symbol = symbols.get(type(op), "")
        if not symbol:
            return UNKNOWN
        swapped = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}
        for one, other, sign in ((left, right, symbol), (right, left, swapped[symbol])):
            value = self.expr(one)
            if value and self.nodes.op(value) == "version":
                constant = self.version_constant(other)
                if constant is not None:
                    form = self.nodes.table[value][1]
                    return self.nodes.add("version-is", sign, form, constant)
        return UNKNOWN

    def version_constant(self, node: ast.expr) -> str | None:
        """``"0.5.13"``, ``Version("0.5.13")``, ``(0, 5, 13)`` as text."""
        if isinstance(node, ast.Call) and node.args:
            return self.version_constant(node.args[0])
        if isinstance(node, (ast.Tuple, ast.List)):
            numbers = [each.value for each in node.elts if isinstance(each, ast.Constant)]
            if len(numbers) == len(node.elts) and all(isinstance(n, (int, str)) for n in numbers):
                return ".".join(str(n) for n in numbers)
            return None
        if isinstance(node, ast.Attribute):
            inner = self.version_constant(node.value)
            if inner is not None:
                return inner
        texts = self.texts(node)
        return texts[0] if len(texts) == 1 and texts[0] != "*" else None

    def instance_of(self, classes: ast.expr) -> int:
        """The value an ``isinstance`` against these classes leaves."""
        if isinstance(classes, ast.Tuple):
            parts = [self.instance_of(each) for each in classes.elts]
            return UNKNOWN if UNKNOWN in parts else self.nodes.union(parts)
        value = self.expr(classes)
        if value:
            return self.nodes.add("instance", value)
        name = guards.last_name(classes)
        return self.nodes.literal(_LITERALS[name]) if name in _LITERALS else UNKNOWN

    def narrow(self, test: ast.expr, positive: bool) -> None:
        """What a test tells of its subject inside the branch."""
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            self.narrow(test.operand, not positive)
            return
        if isinstance(test, ast.BoolOp):
            if isinstance(test.op, ast.And) == positive:
                for each in test.values:
                    self.narrow(each, positive)
            return
        if not isinstance(test, ast.Call) or not isinstance(test.func, ast.Name):
            return
        if test.func.id not in ("isinstance", "issubclass") or len(test.args) != 2:
            return
        subject, classes = test.args
        key = dotted_name(subject)
        if not key:
            return
        with self.silently():
            value = UNKNOWN
            if positive and test.func.id == "isinstance":
                value = self.instance_of(classes)
            elif positive:
                value = self.expr(classes) if not isinstance(classes, ast.Tuple) else UNKNOWN
        if "." in key:
            self.scope.narrowed[key] = value
        elif key in self.scope.names or positive:
            self.scope.names[key] = value

    # -- constants -----------------------------------------------------------------------------

    def is_display(self, node: ast.expr) -> bool:
        """Whether an expression is a constant worth remembering by its name."""
        if isinstance(node, ast.Constant):
            return isinstance(node.value, str)
        return isinstance(node, (ast.Tuple, ast.List, ast.Set, ast.Dict, ast.JoinedStr)) or (
            isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add)
        )

    def display(self, node: ast.expr, depth: int = 0) -> ast.expr | None:
        """The display an expression is, or is the name of."""
        if isinstance(node, ast.Name) and depth < 4:
            held = self.scope.constant(node.id)
            return self.display(held, depth + 1) if held is not None else None
        if isinstance(node, (ast.Tuple, ast.List, ast.Set, ast.Dict)):
            return node
        if (
            isinstance(node, ast.Call)
            and len(node.args) == 1
            and guards.last_name(node.func)
            in {
                "list",
                "tuple",
                "set",
                "frozenset",
                "sorted",
                "reversed",
                "enumerate",
            }
            and guards.last_name(node.func) != "enumerate"
        ):
            return self.display(node.args[0], depth + 1)
        return None

    def texts(self, node: ast.expr, depth: int = 0) -> list[str]:
        """The strings an expression can be: usually one; ``*`` in place of what is unknown."""
        if depth > 5:
            return ["*"]
        match node:
            case ast.Constant(value=str(text)):
                return [text]
            case ast.Name(id=name):
                held = self.scope.constant(name)
                if held is None:
                    return ["*"]
                if getattr(held, "sglang_choice", False):
                    found: list[str] = []
                    for each in held.elts:  # type: ignore[attr-defined]
                        found += self.texts(each, depth + 1)
                    return list(dict.fromkeys(found))
                return self.texts(held, depth + 1) if not isinstance(held, ast.Name) else ["*"]
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                ones, others = self.texts(left, depth + 1), self.texts(right, depth + 1)
                if "*" in ones or "*" in others or len(ones) * len(others) > 32:
                    return ["*"]
                return [one + other for one in ones for other in others]
            case ast.JoinedStr(values=values):
                result = [""]
                for part in values:
                    inner = part.value if isinstance(part, ast.FormattedValue) else part
                    options = self.texts(inner, depth + 1)
                    if "*" in options or len(result) * len(options) > 32:
                        return ["*"]
                    result = [head + tail for head in result for tail in options]
                return result
            case ast.IfExp(body=body, orelse=orelse):
                return list(dict.fromkeys(self.texts(body) + self.texts(orelse)))
            case _:
                return ["*"]

    # -- annotations ---------------------------------------------------------------------------

    def annotation(self, node: ast.expr) -> int:
        """The value that an annotation says there is."""
        if self.future:
            with self.silently():
                return self._annotation(node)
        return self._annotation(node)

    def _annotation(self, node: ast.expr) -> int:
        match node:
            case ast.Constant(value=str(text)):
                try:
                    inner = ast.parse(text, mode="eval").body
                except (SyntaxError, ValueError):
                    return UNKNOWN
                with self.silently():
                    return self._annotation(inner)
            case ast.Constant(value=None):
                return self.nodes.literal("None")
            case ast.BinOp(left=left, op=ast.BitOr(), right=right):
                return self._one_of([self._annotation(left), self._annotation(right)])
            case ast.Subscript(value=value, slice=inner):
                name = guards.last_name(value)
                arguments = inner.elts if isinstance(inner, ast.Tuple) else [inner]
                if name == "Union":
                    return self._one_of([self._annotation(each) for each in arguments])
                if name in ("Type", "type"):
                    with self.silently():
                        return self.expr(arguments[0])
                if name in _TRANSPARENT:
                    chosen = arguments[-1] if name == "Coroutine" else arguments[0]
                    return self._annotation(chosen)
                if name in _ELEMENTS:
                    return self.nodes.add("list", self._annotation(arguments[0]))
                if name in _MAPPINGS and len(arguments) == 2:
                    return self.nodes.add("dict", self._annotation(arguments[1]))
                if name in ("Tuple", "tuple"):
                    if len(arguments) == 2 and isinstance(arguments[1], ast.Constant):
                        return self.nodes.add("list", self._annotation(arguments[0]))
                    return self.nodes.add("tuple", *[self._annotation(each) for each in arguments])
                if name in ("Literal", "Callable"):
                    return UNKNOWN
                return self._annotation(value)
            case ast.Name(id=name) if name in _LITERALS and self.scope.find(name) is None:
                return self.nodes.literal(_LITERALS[name])
            case ast.Name() | ast.Attribute():
                found = self.expr(node)
                return self.nodes.add("instance", found) if found else UNKNOWN
            case _:
                return UNKNOWN

    def _one_of(self, parts: list[int]) -> int:
        none = self.nodes.literal("None")
        kept = [part for part in parts if part != none]
        if UNKNOWN in kept:
            return UNKNOWN
        return self.nodes.union(kept)

    # -- expressions ---------------------------------------------------------------------------

    def expr(self, node: ast.expr) -> int:
        """The value of an expression; records the uses in it."""
        method = getattr(self, "ex_" + type(node).__name__, None)
        if method is not None:
            return int(method(node))
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                self.expr(child)
        return UNKNOWN

    def ex_Name(self, node: ast.Name) -> int:
        if not self.quiet:
            self.mention(node.id)
        value = self.scope.find(node.id)
        if value is not None:
            return value
        if node.id in _BUILTINS:
            return UNKNOWN
        stars = [module for module in self.file.stars if module.startswith(":")]
        if len(stars) == 1 and len(self.file.stars) == 1:
            found = self.nodes.add("import", stars[0][1:], node.id)
            self.use(UseKind.IMPORT, found, node)
            return found
        return UNKNOWN

    def ex_Constant(self, node: ast.Constant) -> int:
        value = node.value
        if isinstance(value, bool):
            return self.nodes.literal("true" if value else "false")
        if value is None:
            return self.nodes.literal("None")
        if isinstance(value, str):
            if 1 < len(value) <= 80 and not self.quiet:
                self.strings.add(value)
            if DOTTED.match(value) and id(node) not in self.docs:
                self.use(UseKind.DOTTED, self.nodes.add("dotted", value), node)
            return self.nodes.literal("str")
        if isinstance(value, int):
            return self.nodes.literal("int")
        return self.nodes.literal("float") if isinstance(value, float) else UNKNOWN

    def ex_JoinedStr(self, node: ast.JoinedStr) -> int:
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                self.expr(part.value)
        for text in self.texts(node):
            if DOTTED.match(text):
                self.use(UseKind.DOTTED, self.nodes.add("dotted", text), node)
        return self.nodes.literal("str")

    def ex_Attribute(self, node: ast.Attribute) -> int:
        self.mention(node.attr)
        key = dotted_name(node)
        if key and key in self.scope.narrowed:
            narrowed = self.scope.narrowed[key]
            base = self.expr(node.value)
            if base:
                self.use(UseKind.READ, self.nodes.add("attr", base, node.attr), node)
            return narrowed
        base = self.expr(node.value)
        if base == UNKNOWN:
            name = guards.last_name(node.value)
            if not name or name in _BUILTINS or name in ("self", "cls"):
                return UNKNOWN
            base = self.nodes.add("known", name)
        op = self.nodes.op(base)
        if op == "foreign":
            return self.nodes.add("foreign", "", "")
        if op == "version":
            form = {"release": "tuple"}.get(node.attr, self.nodes.table[base][1])
            return self.nodes.add("version", form)
        if node.attr == "__version__" and self.nodes.table[base][:2] == ("import", "sglang"):
            return self.nodes.add("version", "text")
        value = self.nodes.add("attr", base, node.attr)
        self.use(UseKind.READ, value, node)
        return value

    def ex_Await(self, node: ast.Await) -> int:
        return self.expr(node.value)

    def ex_Starred(self, node: ast.Starred) -> int:
        self.expr(node.value)
        return UNKNOWN

    def ex_NamedExpr(self, node: ast.NamedExpr) -> int:
        value = self.expr(node.value)
        self.bind(node.target.id, value)
        return value

    def ex_Subscript(self, node: ast.Subscript) -> int:
        base = self.expr(node.value)
        self.expr(node.slice)
        if base == UNKNOWN:
            return UNKNOWN
        if self.nodes.op(base) == "version":
            return base
        texts = self.texts(node.slice)
        if len(texts) == 1 and texts[0] != "*":
            self.use(UseKind.ITEM, base, node, name=texts[0])
            if self.nodes.table[base] == ("literal", "sys.modules") and DOTTED.match(texts[0]):
                return self.nodes.add("dotted", texts[0])
            return self.nodes.add("item", base, texts[0])
        if isinstance(node.slice, ast.Slice):
            return base
        if isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, int):
            return self.nodes.add("unpack", base, node.slice.value, -1)
        return self.nodes.add("item", base, None)

    def ex_IfExp(self, node: ast.IfExp) -> int:
        condition = self.condition(node.test)
        self.expr(node.test)
        if condition:
            yes = self.where(
                self.guard,
                kind="if",
                condition=condition,
                line=node.lineno,
                way_out=not guards.is_flag(node.orelse) or True,
            )
            no = self.where(
                self.guard, kind="if", condition=condition, positive=False, line=node.lineno
            )
            saved = dict(self.scope.names)
            with self.under(yes):
                one = self.expr(node.body)
            self.scope.names = dict(saved)
            with self.under(no):
                other = self.expr(node.orelse)
            self.scope.names = saved
            return self.nodes.add("select", condition, one, other)
        saved = dict(self.scope.names)
        narrowed = dict(self.scope.narrowed)
        self.narrow(node.test, True)
        one = self.expr(node.body)
        self.scope.names, self.scope.narrowed = dict(saved), dict(narrowed)
        self.narrow(node.test, False)
        other = self.expr(node.orelse)
        self.scope.names, self.scope.narrowed = saved, narrowed
        none = self.nodes.literal("None")
        if other == none:
            return one
        return other if one == none else self.both(one, other)

    def ex_BoolOp(self, node: ast.BoolOp) -> int:
        outer = self.guard
        saved, narrowed = dict(self.scope.names), dict(self.scope.narrowed)
        values = []
        positive = isinstance(node.op, ast.And)
        for each in node.values:
            values.append(self.expr(each))
            condition = self.condition(each)
            if condition:
                self.guard = self.where(
                    self.guard,
                    kind="if",
                    condition=condition,
                    positive=positive,
                    line=node.lineno,
                )
            self.narrow(each, positive)
        self.guard = outer
        self.scope.names, self.scope.narrowed = saved, narrowed
        if positive:
            return values[-1]
        none = self.nodes.literal("None")
        kept = [value for value in values if value != none]
        return UNKNOWN if UNKNOWN in kept else self.nodes.union(kept)

    def ex_UnaryOp(self, node: ast.UnaryOp) -> int:
        value = self.expr(node.operand)
        if isinstance(node.op, ast.Not):
            condition = self.condition(node)
            return condition or self.nodes.literal("bool")
        return value if value and self.nodes.op(value) == "literal" else UNKNOWN

    def ex_BinOp(self, node: ast.BinOp) -> int:
        self.expr(node.left)
        self.expr(node.right)
        return self.nodes.literal("number")

    def ex_Compare(self, node: ast.Compare) -> int:
        self.expr(node.left)
        for each in node.comparators:
            self.expr(each)
        if len(node.ops) == 1:
            if isinstance(node.ops[0], (ast.In, ast.NotIn)):
                self.membership(node)
            condition = self.condition(node)
            if condition:
                return condition
        return self.nodes.literal("bool")

    def membership(self, node: ast.Compare) -> None:
        """``"key" in REGISTRY`` asks, and never fails."""

    def ex_Tuple(self, node: ast.Tuple) -> int:
        self.pairs(node)
        return self.nodes.add("tuple", *[self.expr(each) for each in node.elts])

    def ex_List(self, node: ast.List) -> int:
        self.pairs(node)
        values = self.elements(node)
        return self.nodes.add("list", UNKNOWN if UNKNOWN in values else self.nodes.union(values))

    ex_Set = ex_List

    def elements(self, node: ast.List | ast.Set) -> list[int]:
        """Values of a display; dotted strings in it are alternatives of one group."""
        texts = [
            each
            for each in node.elts
            if isinstance(each, ast.Constant)
            and isinstance(each.value, str)
            and DOTTED.match(each.value)
        ]
        before = len(self.file.uses)
        values = [self.expr(each) for each in node.elts]
        if len(texts) > 1 and not self.quiet:
            self.mark_group(node, before)
            self.same_thing(node, texts)
        return values

    def same_thing(self, node: ast.expr, texts: Sequence[ast.expr]) -> None:
        """Dotted strings that end in one name are one thing in several places: one is enough."""
        last = {
            each.value.replace(":", ".").rsplit(".", 1)[-1]
            for each in texts
            if isinstance(each, ast.Constant) and isinstance(each.value, str)
        }
        group = self.groups.get((node.lineno, node.col_offset))
        if len(last) == 1 and group is not None and group not in self.file.groups:
            self.file.groups.append(group)

    def mark_group(self, node: ast.expr, before: int) -> None:
        """The dotted strings of a display belong together."""
        group = self.groups.setdefault((node.lineno, node.col_offset), len(self.groups) + 1)
        for use in self.file.uses[before:]:
            if use.kind is UseKind.DOTTED:
                use.group = group

    def pairs(self, node: ast.Tuple | ast.List) -> None:
        """``("sglang.srt.x", "name")``: a module and an attribute of it."""
        elements = node.elts
        if len(elements) < 2:
            return
        first, second = elements[0], elements[1]
        if not (isinstance(first, ast.Constant) and isinstance(second, ast.Constant)):
            if all(
                isinstance(each, (ast.Tuple, ast.List)) and len(each.elts) >= 2 for each in elements
            ):
                key = (node.lineno, node.col_offset)
                before = len(self.file.uses)
                self.groups.setdefault(key, len(self.groups) + 1)
                del before
            return
        one, other = first.value, second.value
        if (
            isinstance(one, str)
            and isinstance(other, str)
            and DOTTED.match(one)
            and _IDENTIFIER.match(other)
            and not other.startswith("sglang")
        ):
            self.use(UseKind.DOTTED, self.nodes.add("dotted", f"{one}:{other}"), second)

    def ex_Dict(self, node: ast.Dict) -> int:
        values = []
        before = len(self.file.uses)
        keys = 0
        for key, value in zip(node.keys, node.values, strict=True):
            if key is not None:
                self.expr(key)
                texts = self.texts(key)
                if isinstance(value, ast.Dict) and texts and DOTTED.match(texts[0]):
                    keys += 1
                    for inner in value.keys:
                        if (isinstance(inner, ast.Constant) and isinstance(inner.value, str)) and (
                            _IDENTIFIER.match(inner.value)
                        ):
                            self.use(
                                UseKind.DOTTED,
                                self.nodes.add("dotted", f"{texts[0]}:{inner.value}"),
                                inner,
                            )
            values.append(self.expr(value))
        del before
        return self.nodes.add("dict", UNKNOWN if UNKNOWN in values else self.nodes.union(values))

    def ex_Lambda(self, node: ast.Lambda) -> int:
        index = self.lambdas.get(id(node))
        if index is None:
            index = self.lambdas[id(node)] = self.signature(node, node.args, "<lambda>", "", "")
        return self.nodes.add("ownfunc", index)

    def comprehension(self, node: ast.expr, results: Sequence[ast.expr]) -> list[int]:
        """Walk a comprehension in a scope of its own."""
        outer = self.scope
        inner = Scope(outer, outer.function, outer.owner)
        inner.narrowed = dict(outer.narrowed)
        self.scope = inner
        guard = self.guard
        for generator in node.generators:  # type: ignore[attr-defined]
            value = self.expr(generator.iter)
            self.loop_over(generator.target, generator.iter, value)
            for test in generator.ifs:
                self.expr(test)
                condition = self.condition(test)
                if condition:
                    self.guard = self.where(
                        self.guard, kind="if", condition=condition, line=node.lineno
                    )
                self.narrow(test, True)
        values = [self.expr(each) for each in results]
        self.guard = guard
        self.scope = outer
        return values

    def ex_ListComp(self, node: ast.ListComp) -> int:
        return self.nodes.add("list", self.comprehension(node, [node.elt])[0])

    def ex_SetComp(self, node: ast.SetComp) -> int:
        return self.nodes.add("list", self.comprehension(node, [node.elt])[0])

    def ex_GeneratorExp(self, node: ast.GeneratorExp) -> int:
        return self.nodes.add("list", self.comprehension(node, [node.elt])[0])

    def ex_DictComp(self, node: ast.DictComp) -> int:
        return self.nodes.add("dict", self.comprehension(node, [node.key, node.value])[1])

    def ex_Yield(self, node: ast.Yield) -> int:
        if node.value is not None:
            self.expr(node.value)
        if self.scope.function >= 0:
            self.file.functions[self.scope.function].is_generator = True
        return UNKNOWN

    def ex_YieldFrom(self, node: ast.YieldFrom) -> int:
        self.expr(node.value)
        if self.scope.function >= 0:
            self.file.functions[self.scope.function].is_generator = True
        return UNKNOWN

    # -- calls ---------------------------------------------------------------------------------

    def form(self, node: ast.Call | None = None) -> int:
        """The form of a call, as an index; arguments are walked."""
        record = Form()
        if node is not None:
            for arg in node.args:
                if isinstance(arg, ast.Starred):
                    record.star = True
                    known = self.display(arg.value)
                    self.expr(arg.value)
                    if isinstance(known, (ast.Tuple, ast.List)) and not any(
                        isinstance(e, ast.Starred) for e in known.elts
                    ):
                        pass
                    continue
                value = self.expr(arg)
                if not record.star:
                    record.positional.append(value)
                    record.names.append(arg.id if isinstance(arg, ast.Name) else "")
            for keyword in node.keywords:
                if keyword.arg is None:
                    value = self.expr(keyword.value)
                    self.expand(record, keyword.value)
                else:
                    self.mention(keyword.arg)
                    record.keywords[keyword.arg] = self.expr(keyword.value)
        key = (
            tuple(record.positional),
            tuple(record.names),
            tuple(record.keywords.items()),
            record.star,
            record.double_star,
        )
        index = self.forms.get(key)
        if index is None:
            index = self.forms[key] = len(self.file.forms)
            self.file.forms.append(record)
        return index

    def expand(self, record: Form, node: ast.expr) -> None:
        """``**kwargs`` whose keys stand in a display."""
        record.double_star = True
        keys = self.keys_of(node)
        if keys is None and isinstance(node, ast.Name):
            scope: Scope | None = self.scope
            while scope is not None and keys is None:
                keys = scope.dicts.get(node.id)
                if node.id in scope.names:
                    break
                scope = scope.parent
        for key, value in (keys or {}).items():
            record.keywords.setdefault(key, value)

    def keys_of(self, node: ast.expr | None) -> dict[str, int] | None:
        """The keyword keys of ``dict(a=…)`` or a display, with the nodes of their values."""
        keys: dict[str, int] = {}
        with self.silently():
            if isinstance(node, ast.Dict):
                for key, value in zip(node.keys, node.values, strict=True):
                    if isinstance(key, ast.Constant) and isinstance(key.value, str):
                        keys[key.value] = self.expr(value)
                return keys
            if (isinstance(node, ast.Call) and isinstance(node.func, ast.Name)) and (
                node.func.id == "dict"
            ):
                for keyword in node.keywords:
                    if keyword.arg is not None:
                        keys[keyword.arg] = self.expr(keyword.value)
                return keys
        return None

    def ex_Call(self, node: ast.Call) -> int:
        func = node.func
        name = guards.last_name(func)
        if isinstance(func, ast.Name) and self.scope.find(func.id) is None:
            special = getattr(self, "call_" + func.id, None)
            if special is not None:
                result = special(node)
                if result is not None:
                    return int(result)
        if name in _HARMLESS_CALLS:
            for arg in node.args:
                with self.silently():
                    self.expr(arg)
            return UNKNOWN
        if (
            name
            in (
                "import_module",
                "__import__",
                "resolve_name",
                "import_string",
                "lazy_import",
                "find_spec",
            )
            and node.args
        ):
            return self.dynamic_import(node, name)
        if name == "partial" and node.args:
            return self.partial(node)
        if name == "cast" and len(node.args) == 2:
            self.expr(node.args[1])
            return self.annotation(node.args[0])
        if name == "wraps" or (
            isinstance(func, ast.Call) and guards.last_name(func.func) == "wraps"
        ):
            for arg in node.args:
                value = self.expr(arg)
            if isinstance(func, ast.Call):
                self.expr(func)
                return value if node.args else UNKNOWN
            return UNKNOWN
        if (
            name in ("version", "get_distribution")
            and node.args
            and self.texts(node.args[0]) == ["sglang"]
        ):
            return self.nodes.add("version", "text")
        callee = self.expr(func)
        before = len(self.file.uses)
        form = self.form(node)
        dotted = [
            each
            for each in node.args
            if isinstance(each, ast.Constant)
            and isinstance(each.value, str)
            and DOTTED.match(each.value)
        ]
        if len(dotted) > 1 and not self.quiet:
            self.mark_group(node, before)
            self.same_thing(node, dotted)
        if self.wraps_version(node, form):
            return self.nodes.add(
                "version",
                "parsed"
                if name in ("parse", "Version", "V", "parse_version", "LooseVersion")
                else "tuple",
            )
        self.hook(node, UNKNOWN, decorator=False)
        self.patch_call(node, form)
        if name in ("update",) and isinstance(func, ast.Attribute):
            self.update_dict(func, node)
        if callee == UNKNOWN:
            if isinstance(func, ast.Name) and func.id in _LITERALS:
                return self.nodes.literal(_LITERALS[func.id])
            return UNKNOWN
        if self.nodes.op(callee) == "version":
            return callee
        value = self.nodes.add("call", callee, form)
        if not self.quiet:
            self.use(UseKind.CALL, value, node if not isinstance(func, ast.Attribute) else func)
            self.registering(node, callee)
        return value

    def registering(self, node: ast.Call, callee: int) -> None:
        """A call whose first argument is a constant key may register it."""
        if node.args:
            for text in self.texts(node.args[0])[:8]:
                if text != "*" and len(text) < 60 and not DOTTED.match(text):
                    self.use(UseKind.REGISTER, callee, node, name=text)

    def wraps_version(self, node: ast.Call, form: int) -> bool:
        """Whether a call makes something of SGLang's version: ``parse(sglang.__version__)``."""
        record = self.file.forms[form]
        values = record.positional[:2]
        return any(value and self.nodes.op(value) == "version" for value in values) or any(
            isinstance(arg, (ast.GeneratorExp, ast.ListComp)) and self._version_in(arg)
            for arg in node.args
        )

    def _version_in(self, node: ast.expr) -> bool:
        with self.silently():
            for part in ast.walk(node):
                if isinstance(part, (ast.Name, ast.Attribute)):
                    try:
                        value = self.expr(part)
                    except RecursionError:
                        return False
                    if value and self.nodes.op(value) == "version":
                        return True
        return False

    def update_dict(self, func: ast.Attribute, node: ast.Call) -> None:
        """``kw.update(a=…)`` adds keys to a dict that flows into a call."""
        if isinstance(func.value, ast.Name):
            held = self.scope.dicts.get(func.value.id)
            if held is not None:
                for keyword in node.keywords:
                    if keyword.arg:
                        with self.silently():
                            held[keyword.arg] = self.expr(keyword.value)

    def call_dict(self, node: ast.Call) -> int | None:
        """``dict(a=…)``."""
        values = [self.expr(arg) for arg in node.args]
        values += [self.expr(keyword.value) for keyword in node.keywords]
        return self.nodes.add("dict", UNKNOWN if UNKNOWN in values else self.nodes.union(values))

    def call_super(self, node: ast.Call) -> int | None:
        """``super()``."""
        owner = self.scope.owner
        if node.args:
            first = self.expr(node.args[0])
            if first and self.nodes.op(first) == "ownclass":
                owner = str(self.nodes.table[first][1])
            else:
                return UNKNOWN
        return self.nodes.add("super", owner) if owner else UNKNOWN

    def call_type(self, node: ast.Call) -> int | None:
        """``type(x)``."""
        if len(node.args) == 1:
            value = self.expr(node.args[0])
            if value and self.nodes.op(value) == "self":
                return self.nodes.add("ownclass", self.nodes.table[value][1])
            return self.nodes.add("typeof", value) if value else UNKNOWN
        return None

    def call_isinstance(self, node: ast.Call) -> int | None:
        """Its arguments only."""
        for arg in node.args:
            self.expr(arg)
        return self.nodes.literal("bool")

    call_issubclass = call_isinstance
    call_callable = call_isinstance

    def call_hasattr(self, node: ast.Call) -> int | None:
        """Asks; never fails."""
        if len(node.args) != 2:
            return None
        base = self.subject(node.args[0])
        names = self.texts(node.args[1])
        for name in names:
            if name != "*":
                self.mention(name)
                if base:
                    self.use(UseKind.PROBE, self.nodes.add("attr", base, name), node, name="has")
        if base and len(names) == 1 and names[0] != "*":
            return self.nodes.add("has", base, names[0])
        return self.nodes.literal("bool")

    def subject(self, node: ast.expr) -> int:
        """A value; where nothing is known of it, what goes by its name."""
        base = self.expr(node)
        name = guards.last_name(node)
        if base == UNKNOWN and name and name not in _BUILTINS and name not in ("self", "cls"):
            return self.nodes.add("known", name)
        return base

    def call_getattr(self, node: ast.Call) -> int | None:
        """With a default it asks; without, it reads."""
        if len(node.args) < 2:
            return None
        base = self.subject(node.args[0])
        default = self.expr(node.args[2]) if len(node.args) > 2 else UNKNOWN
        names = self.texts(node.args[1])
        if base == UNKNOWN:
            return UNKNOWN
        found = []
        for name in names:
            if name == "*":
                return UNKNOWN
            self.mention(name)
            value = self.nodes.add("attr", base, name)
            found.append(value)
            if len(node.args) > 2:
                self.use(UseKind.PROBE, value, node, name="get", value=default)
            elif _IDENTIFIER.match(name):
                guard = self.guard
                if len(names) > 1 and self.loops:
                    with self.under(guard):
                        self.use(UseKind.READ, value, node)
                else:
                    self.use(UseKind.READ, value, node)
        value = self.nodes.union(found)
        if len(node.args) > 2:
            return self.nodes.add("probe", value, default)
        return value

    def call_setattr(self, node: ast.Call) -> int | None:
        """An assignment in other words."""
        if len(node.args) != 3:
            return None
        base = self.expr(node.args[0])
        value = self.expr(node.args[2])
        for name in self.texts(node.args[1]):
            if name == "*" or not base:
                continue
            self.mention(name)
            self.defined.add(name)
            if self.nodes.op(base) in ("self", "ownclass"):
                self.keep(str(self.nodes.table[base][1]), name, value, node.lineno)
            self.use(UseKind.WRITE, self.nodes.add("attr", base, name), node, value=value)
        if "*" in self.texts(node.args[1]) and base and self.nodes.op(base) == "self":
            record = self.file.classes.get(str(self.nodes.table[base][1]))
            if record is not None:
                record.open = True
        return UNKNOWN

    def call_property(self, node: ast.Call) -> int | None:
        """``property(f)``, ``staticmethod(f)``: what is assigned is still ``f``."""
        values = [self.expr(arg) for arg in node.args]
        return self.nodes.add("wrapped", "property", values[0]) if values else UNKNOWN

    def call_staticmethod(self, node: ast.Call) -> int | None:
        """See :meth:`call_property`."""
        values = [self.expr(arg) for arg in node.args]
        return self.nodes.add("wrapped", "static", values[0]) if values else UNKNOWN

    def call_classmethod(self, node: ast.Call) -> int | None:
        """See :meth:`call_property`."""
        values = [self.expr(arg) for arg in node.args]
        return self.nodes.add("wrapped", "class", values[0]) if values else UNKNOWN

    def call_next(self, node: ast.Call) -> int | None:
        """An element."""
        values = [self.expr(arg) for arg in node.args]
        if values and values[0]:
            return self.nodes.add("iter", values[0])
        return UNKNOWN

    def call_list(self, node: ast.Call) -> int | None:
        """A container of the same elements."""
        values = [self.expr(arg) for arg in node.args]
        if values and values[0]:
            return self.nodes.add("list", self.nodes.add("iter", values[0]))
        return self.nodes.literal("list")

    call_tuple = call_list
    call_set = call_list
    call_sorted = call_list
    call_reversed = call_list

    def call_enumerate(self, node: ast.Call) -> int | None:
        """Pairs of a number and an element."""
        values = [self.expr(arg) for arg in node.args]
        if not values or not values[0]:
            return UNKNOWN
        pair = self.nodes.add("tuple", self.nodes.literal("int"), self.nodes.add("iter", values[0]))
        return self.nodes.add("list", pair)

    def call_zip(self, node: ast.Call) -> int | None:
        """Tuples of elements."""
        values = [self.expr(arg) for arg in node.args]
        for keyword in node.keywords:
            self.expr(keyword.value)
        parts = [self.nodes.add("iter", value) if value else UNKNOWN for value in values]
        return self.nodes.add("list", self.nodes.add("tuple", *parts))

    def dynamic_import(self, node: ast.Call, name: str) -> int:
        """``importlib.import_module("sglang…")`` and its kin."""
        for keyword in node.keywords:
            self.expr(keyword.value)
        texts = self.texts(node.args[0])
        with self.silently():
            for arg in node.args:
                self.expr(arg)
        found = []
        for text in texts:
            if DOTTED.match(text) or text == "sglang":
                value = self.nodes.add("dotted", text)
                held = (
                    self.scope.constant(node.args[0].id)
                    if isinstance(node.args[0], ast.Name)
                    else None
                )
                self.use(
                    UseKind.DOTTED,
                    value,
                    node,
                    name="probe" if name == "find_spec" else "import",
                    group=getattr(held, "sglang_group", 0),
                )
                found.append(value)
            else:
                found.append(UNKNOWN)
        return UNKNOWN if UNKNOWN in found or name == "find_spec" else self.nodes.union(found)

    def partial(self, node: ast.Call) -> int:
        """``functools.partial(f, …)``: part of a call's form."""
        callee = self.expr(node.args[0])
        rest = ast.copy_location(ast.Call(node.func, node.args[1:], node.keywords), node)
        form = self.form(rest)
        if not callee:
            return UNKNOWN
        value = self.nodes.add("partial", callee, form)
        self.use(UseKind.CALL, value, node, name="partial")
        return value

    def hook(self, node: ast.Call, own: int, decorator: bool) -> bool:
        """A call that ties a function to a dotted target: hook registration, ``mock.patch``."""
        targets: list[str] = []
        for arg in [*node.args[:1], *[k.value for k in node.keywords if k.arg == "target"]]:
            with self.silently():
                targets += [text for text in self.texts(arg) if DOTTED.match(text)]
        if not targets:
            return False
        name = guards.last_name(node.func)
        with self.silently():
            others = [self.expr(arg) for arg in node.args[1:]]
            others += [self.expr(k.value) for k in node.keywords if k.arg != "target"]
        kind = ""
        for arg in [*node.args[1:], *[k.value for k in node.keywords]]:
            last = guards.last_name(arg).lower()
            text = (
                arg.value.lower()
                if isinstance(arg, ast.Constant) and isinstance(arg.value, str)
                else last
            )
            if text in _HOOK_KINDS:
                kind = text
        functions = [value for value in others if value and self.callable_value(value)]
        if decorator:
            functions = [own] if own else []
        hooky = bool(kind) or "hook" in name.lower() or name in ("patch", "patch_function")
        if not hooky and not (functions and ("register" in name or "patch" in name)):
            return False
        if not kind and name in ("patch", "patch_function"):
            kind = "replace"
        if not kind and ("hook" in name.lower() or name == "register"):
            kind = "after"
        for target in targets:
            value = self.nodes.add("dotted", target)
            where: ast.AST = node.args[0] if node.args else node
            if not functions:
                self.use(UseKind.HOOK, value, where, name=kind)
            for function in functions[:1]:
                self.use(UseKind.HOOK, value, where, name=kind, value=function)
                if not self.quiet:
                    self.file.bindings.append((function, value, kind))
        return True

    def callable_value(self, value: int) -> bool:
        """Whether a value may be a function or class of the plugin."""
        return self.nodes.op(value) in {
            "ownfunc",
            "ownclass",
            "own",
            "call",
            "partial",
            "attr",
            "wrapped",
            "import",
            "tried",
            "select",
        }

    def patch_call(self, node: ast.Call, form: int) -> None:
        """``patch.object(Class, "name", function)`` and the like."""
        if guards.last_name(node.func) not in ("object", "setattr", "patch_object", "wrap_method"):
            return
        record = self.file.forms[form]
        if len(node.args) < 2 or len(record.positional) < 2 or not record.positional[0]:
            return
        for name in self.texts(node.args[1]):
            if name == "*" or not _IDENTIFIER.match(name):
                continue
            value = record.positional[2] if len(record.positional) > 2 else UNKNOWN
            target = self.nodes.add("attr", record.positional[0], name)
            self.use(UseKind.WRITE, target, node, value=value)


class _ClassScope:
    """The body of a class: its statements bind members."""

    def __init__(self, flow: Flow, outer: Scope, qual: str, record: OwnClass) -> None:
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
            match statement:
                case ast.FunctionDef() | ast.AsyncFunctionDef():
                    self.method(statement)
                case ast.ClassDef():
                    before = flow.scope
                    flow.scope = self.outer
                    flow.do_ClassDef(statement)
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
                    before_names = dict(flow.scope.names)
                    flow.statement(statement)
                    for name, value in flow.scope.names.items():
                        if before_names.get(name, -1) != value or (
                            isinstance(statement, (ast.Assign, ast.AnnAssign))
                            and name in _targets(statement)
                        ):
                            values = record.attributes.setdefault(name, [])
                            if value not in values:
                                values.append(value)
                            record.lines.setdefault(name, statement.lineno)
                            flow.defined.add(name)
                            if flow.nodes.op(value) == "ownfunc":
                                record.methods.setdefault(name, int(flow.nodes.table[value][1]))

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
        index = int(flow.nodes.table[value][1])
        if flow.file.functions[index].kind == "overload" and node.name in record.methods:
            return
        record.methods[node.name] = index
        record.lines[node.name] = node.lineno
        flow.defined.add(node.name)
        class_scope.names[node.name] = value

    def define(self, node: ast.FunctionDef | ast.AsyncFunctionDef, scope: Scope) -> int:
        flow = self.flow
        value = flow.define(node, self.qual)
        # the queued body must not see class-level names as free names
        queued = flow.pending[-1][0] if flow.pending else None
        for pending_scope, _, pending_node, _ in reversed(flow.pending):
            if pending_node is node:
                queued = pending_scope
                break
        if queued is not None and queued.parent is scope:
            queued.parent = self.outer
        return value


def _targets(statement: ast.Assign | ast.AnnAssign) -> set[str]:
    """Plain names that an assignment binds."""
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    found: set[str] = set()
    for target in targets:
        for part in ast.walk(target):
            if isinstance(part, ast.Name):
                found.add(part.id)
    return found
