# ruff: noqa: N802, D102 - methods are named after the syntax nodes they walk
"""Calls: their form, and those that mean more than a call."""

from __future__ import annotations

import ast
import copy

from sglang_contracts.plugin import guards
from sglang_contracts.plugin.conditions import Conditions
from sglang_contracts.plugin.model import (
    UNKNOWN,
    Form,
    UseKind,
)
from sglang_contracts.plugin.scope import (
    DOTTED,
    IDENTIFIER,
    LITERALS,
    ByParameter,
    OwnCall,
    Scope,
)

_HARMLESS_CALLS = frozenset({"getLogger", "get_logger", "setLevel", "init_logger", "entry_points"})
_HOOK_KINDS = frozenset({"replace", "around", "before", "after"})


class Calls(Conditions):
    """What calls do."""

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
                        self.spread(record, known.elts)
                    continue
                value = self.argument(arg)
                if not record.star:
                    record.positional.append(value)
                    record.names.append(guards.last_name(arg))
            for keyword in node.keywords:
                if keyword.arg is None:
                    value = self.expr(keyword.value)
                    self.expand(record, keyword.value)
                else:
                    self.mention(keyword.arg)
                    record.keywords[keyword.arg] = self.argument(keyword.value)
        return self.keep_form(record)

    def keep_form(self, record: Form) -> int:
        """A form's index; equal ones are one."""
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

    def spread(self, record: Form, elements: list[ast.expr]) -> None:
        """``*args`` whose elements stand in a display: they are passed one by one."""
        record.star = False
        with self.silently():
            for each in elements:
                record.positional.append(self.argument(each))
                record.names.append(guards.last_name(each))

    def expand(self, record: Form, node: ast.expr) -> None:
        """``**kwargs`` whose keys stand in a display."""
        record.double_star = True
        keys = self.keys_of(node)
        set_under: dict[str, int] = {}
        if keys is None and isinstance(node, ast.Name):
            keys = self.known_keys(node.id)
            set_under = self.scope.set_under.get(node.id, {})
        for key, value in (keys or {}).items():
            if self.within(set_under.get(key, 0)):
                record.keywords.setdefault(key, value)

    def known_keys(self, name: str) -> dict[str, int]:
        """The keys of the dict that goes by a name, in this scope or one around it."""
        scope: Scope | None = self.scope
        while scope is not None:
            if name in scope.dicts:
                return scope.dicts[name]
            if name in scope.names:
                break
            scope = scope.parent
        return {}

    def within(self, guard: int) -> bool:
        """Whether what stands here runs under a guard."""
        here = self.guard
        while here and here != guard:
            here = self.file.guards[here].parent
        return here == guard

    def optional(self, node: ast.Call, callee: int, form: int) -> None:
        """``if "x" in taken: kw["x"] = 1`` before ``f(**kw)``: the call as it is then."""
        names = [
            keyword.value.id
            for keyword in node.keywords
            if keyword.arg is None and isinstance(keyword.value, ast.Name)
        ]
        for name in names:
            keys = self.known_keys(name)
            set_under = self.scope.set_under.get(name, {})
            for guard in sorted({set_under[key] for key in keys if key in set_under}):
                if self.within(guard):
                    continue
                record = copy.copy(self.file.forms[form])
                record.keywords = dict(record.keywords)
                for key, value in keys.items():
                    if set_under.get(key) == guard:
                        record.keywords.setdefault(key, value)
                self.file.forms.append(record)
                value = self.nodes.add("call", callee, len(self.file.forms) - 1)
                with self.under(guard):
                    self.use(UseKind.CALL, value, node.func)

    def drop_key(self, name: str, key: str) -> None:
        """``kw.pop("x")``: gone, or gone under the condition it stands under."""
        held = self.scope.dicts.get(name, {})
        if key not in held:
            return
        set_under = self.scope.set_under.setdefault(name, {})
        record = self.file.guards[self.guard]
        if self.guard == set_under.get(key, 0) or record.kind != "if":
            del held[key]
            return
        set_under[key] = self.where(
            record.parent,
            kind="if",
            condition=record.condition,
            positive=not record.positive,
            line=record.line,
        )

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
            if not self.quiet:  # a note may be silent where ``list(x)`` or ``super()`` stands
                self.mention(func.id)
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
        version = self.version_call(node, name)
        if version:
            return version
        same = self.same_value(node, name)
        if same:
            return same
        self.handed_over(node, name)
        callee = self.expr(func)
        before = len(self.file.uses)
        form = self.form(node)
        listed = self.listed(node)
        if listed:
            return listed
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
        if self.is_version(callee):
            return self.nodes.add("call", callee, form)
        self.hook(node, UNKNOWN, decorator=False)
        self.patch_call(node, form)
        if name in ("update",) and isinstance(func, ast.Attribute):
            self.update_dict(func, node)
        if name == "sort" and isinstance(func, ast.Attribute):
            self.by_key(node, func.value)
        if name == "pop" and isinstance(func, ast.Attribute) and node.args and not self.quiet:
            for key in self.texts(node.args[0]):
                self.drop_key(guards.last_name(func.value), key)
        if callee == UNKNOWN:
            if isinstance(func, ast.Name) and func.id in LITERALS:
                return self.nodes.literal(LITERALS[func.id])
            if isinstance(func, ast.Name) and func.id == "object":
                return self.nodes.literal("object")  # a sentinel
            return UNKNOWN
        value = self.nodes.add("call", callee, form)
        self.own_call(node, callee, form)
        if not self.quiet:
            where = node if not isinstance(func, ast.Attribute) else func
            self.use(UseKind.CALL, value, where, count=self.awaiting.get(id(node), 0))
            self.registering(node, callee)
            self.optional(node, callee, form)
        return value

    def registering(self, node: ast.Call, callee: int) -> None:
        """A call whose first argument is a constant key may register it."""
        if node.args:
            for text in self.texts(node.args[0])[:8]:
                if text != "*" and len(text) < 60 and not DOTTED.match(text):
                    self.use(UseKind.REGISTER, callee, node, name=text)

    def update_dict(self, func: ast.Attribute, node: ast.Call) -> None:
        """``kw.update(a=…)`` adds keys to a dict that flows into a call."""
        if isinstance(func.value, ast.Name):
            held = self.scope.dicts.get(func.value.id)
            if held is not None:
                for keyword in node.keywords:
                    if keyword.arg:
                        with self.silently():
                            held[keyword.arg] = self.expr(keyword.value)
                        self.set_key(func.value.id, keyword.arg)

    def set_key(self, name: str, key: str) -> None:
        """Remember under which guard a key of a dict was set."""
        self.scope.set_under.setdefault(name, {})[key] = self.guard

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
        """Asks of what class its first argument is."""
        values = [self.expr(arg) for arg in node.args]
        if len(values) == 2 and values[0]:
            asked = self.nodes.add("attr", values[0], "__class__")
            self.use(UseKind.PROBE, asked, node, name="class")
        return self.nodes.literal("bool")

    call_issubclass = call_isinstance

    def call_callable(self, node: ast.Call) -> int | None:
        """Its argument only."""
        for arg in node.args:
            self.expr(arg)
        return self.nodes.literal("bool")

    def call_hasattr(self, node: ast.Call) -> int | None:
        """Asks; never fails."""
        if len(node.args) != 2:
            return None
        base = self.subject(node.args[0])
        names = self.texts(node.args[1])
        self.named_by_parameter(node, base, UseKind.PROBE)
        for name in names:
            if name != "*":
                self.mention(name)
                if base:
                    self.use(UseKind.PROBE, self.nodes.add("attr", base, name), node, name="has")
        return self.condition(node) or self.nodes.literal("bool")

    def call_getattr(self, node: ast.Call) -> int | None:
        """With a default it asks; without, it reads."""
        if len(node.args) < 2:
            return None
        base = self.subject(node.args[0])
        default = self.expr(node.args[2]) if len(node.args) > 2 else UNKNOWN
        if any(self.version_attribute(base, name) for name in self.texts(node.args[1])):
            return self.nodes.add("version")
        names = self.texts(node.args[1])
        self.named_by_parameter(node, base, UseKind.READ if len(node.args) == 2 else UseKind.PROBE)
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
            elif IDENTIFIER.match(name):
                guard = self.guard
                has = self.nodes.add("has", base, name)
                if len(names) > 1 and self.asked_for(has):
                    guard = self.where(guard, kind="if", condition=has, line=node.lineno)
                with self.under(guard):
                    self.use(UseKind.READ, value, node)
        value = self.nodes.union(found)
        if len(node.args) > 2:
            return self.nodes.add("probe", value, default)
        return value

    def named_by_parameter(self, node: ast.Call, base: int, kind: UseKind) -> None:
        """``getattr(cls, name)`` in a helper: what it reads is told where the helper is called."""
        if self.quiet or not base or not isinstance(node.args[1], ast.Name):
            return
        held = self.nodes.table[self.expr(node.args[1])]
        if held[0] == "param":
            own = self.file.functions[held[1]].guard
            sure = kind if self.guard == own else UseKind.PROBE
            self.by_parameter.append(ByParameter(held[1], base, held[2], sure))

    def own_call(self, node: ast.Call, callee: int, form: int) -> None:
        """Remember a call of a function of this file, with the strings it is given."""
        held = self.nodes.table[callee]
        if self.quiet or held[0] != "ownfunc":
            return
        texts: dict[int | str, list[str]] = {}
        for position, arg in enumerate(node.args):
            texts[position] = self.texts(arg)
        for keyword in node.keywords:
            if keyword.arg:
                texts[keyword.arg] = self.texts(keyword.value)
        if any(each != ["*"] for each in texts.values()):
            self.own_calls.append(
                OwnCall(held[1], form, texts, node, self.guard, self.scope.function)
            )

    def asked_for(self, has: int) -> bool:
        """Whether ``hasattr`` over several names, this among them, guards what stands here."""
        guard = self.guard
        while guard:
            record = self.file.guards[guard]
            node, positive = record.condition, record.positive
            while record.kind == "if" and self.nodes.op(node) == "not":
                node, positive = self.nodes.table[node][1], not positive
            if record.kind == "if" and positive and has in self.nodes.table[node][1:]:
                return self.nodes.op(node) == "or"
            guard = record.parent
        return False

    def call_setattr(self, node: ast.Call) -> int | None:
        """An assignment in other words."""
        if len(node.args) != 3:
            return None
        base = self.expr(node.args[0])
        value = self.expr(node.args[2])
        self.named_by_parameter(node, base, UseKind.WRITE)
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
        numbers = self.numbers(node)
        if numbers:
            return numbers
        self.by_key(node, node.args[0] if node.args else None)
        values = [self.expr(arg) for arg in node.args]
        if values and values[0]:
            return self.nodes.add("list", self.nodes.add("iter", values[0]))
        return self.nodes.literal("list")

    call_tuple = call_list

    call_set = call_list

    call_sorted = call_list

    call_reversed = call_list

    call_iter = call_list

    def same_value(self, node: ast.Call, name: str) -> int:
        """``copy(x)``, ``replace(x, …)``, ``TypeVar("T", bound=X)``: what goes in comes out."""
        if name == "TypeVar":
            for keyword in node.keywords:
                if keyword.arg == "bound":
                    with self.silently():
                        return self.expr(keyword.value)
        if name not in ("copy", "deepcopy", "replace") or not node.args:
            return UNKNOWN
        with self.silently():
            if self.nodes.op(self.expr(node.func)) != "foreign":
                return UNKNOWN
            value = self.expr(node.args[0])
        self.form(node)
        return value

    def handed_over(self, node: ast.Call, name: str) -> None:
        """A function of the plugin that something else calls: a thread, an executor, ``map``."""
        function: ast.expr | None = None
        given: list[ast.expr] = []
        if name in ("Thread", "Process", "Timer"):
            for keyword in node.keywords:
                if keyword.arg == "target":
                    function = keyword.value
                elif keyword.arg == "args" and isinstance(keyword.value, (ast.Tuple, ast.List)):
                    given = keyword.value.elts
        elif name in ("submit", "to_thread") and node.args:
            function, given = node.args[0], node.args[1:]
        elif name == "run_in_executor" and len(node.args) > 1:
            function, given = node.args[1], node.args[2:]
        if function is None or not given or isinstance(function, ast.Lambda):
            return
        with self.silently():
            callee = self.expr(function)
            if self.nodes.op(callee) not in ("ownfunc", "own", "attr"):
                return
            form = self.form(ast.copy_location(ast.Call(function, given, []), node))
        self.use(UseKind.CALL, self.nodes.add("call", callee, form), node)

    def by_key(self, node: ast.Call, elements: ast.expr | None) -> None:
        """``key=lambda r: …``: what the function is given are the elements."""
        for keyword in node.keywords:
            self.expr(keyword.value)
            if keyword.arg == "key" and elements is not None:
                self.given_elements(keyword.value, elements)

    def given_elements(self, function: ast.expr, elements: ast.expr) -> None:
        """A lambda that is called with each element of something."""
        if not isinstance(function, ast.Lambda) or not function.args.args:
            return
        with self.silently():
            value = self.expr(elements)
        for scope, _, node, _ in self.pending:
            if node is function and value:
                scope.names[function.args.args[0].arg] = self.nodes.add("iter", value)

    def call_max(self, node: ast.Call) -> int | None:
        """One of the elements."""
        values = [self.expr(arg) for arg in node.args]
        self.by_key(node, node.args[0] if len(node.args) == 1 else None)
        if len(values) == 1 and values[0]:
            return self.nodes.add("iter", values[0])
        return UNKNOWN

    call_min = call_max

    def call_filter(self, node: ast.Call) -> int | None:
        """The same elements, fewer of them."""
        values = [self.expr(arg) for arg in node.args]
        if len(values) != 2:
            return UNKNOWN
        self.given_elements(node.args[0], node.args[1])
        return self.nodes.add("list", self.nodes.add("iter", values[1])) if values[1] else UNKNOWN

    def call_map(self, node: ast.Call) -> int | None:
        """What a function makes of each element."""
        numbers = self.numbers(node)
        if numbers:
            return numbers
        for arg in node.args:
            self.expr(arg)
        if len(node.args) == 2:
            self.given_elements(node.args[0], node.args[1])
            with self.silently():
                callee, values = self.expr(node.args[0]), self.expr(node.args[1])
            if values and self.nodes.op(callee) in ("ownfunc", "own"):
                element = self.nodes.add("iter", values)
                form = self.keep_form(Form([element], [""]))
                made = self.nodes.add("call", callee, form)
                self.use(UseKind.CALL, made, node)
                return self.nodes.add("list", made)
        return UNKNOWN

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
        chosen = node.args[0]
        if isinstance(chosen, ast.IfExp) and self.condition(chosen.test):
            ways = [
                ast.copy_location(ast.Call(node.func, [way, *node.args[1:]], node.keywords), node)
                for way in (chosen.body, chosen.orelse)
            ]
            return self.expr(ast.copy_location(ast.IfExp(chosen.test, *ways), node))
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
            if name == "*" or not IDENTIFIER.match(name):
                continue
            value = record.positional[2] if len(record.positional) > 2 else UNKNOWN
            target = self.nodes.add("attr", record.positional[0], name)
            self.use(UseKind.WRITE, target, node, value=value)
