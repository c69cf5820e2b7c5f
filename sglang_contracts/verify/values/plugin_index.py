"""Where a plugin makes and uses what: names, functions, call sites, and what replaces what."""

from __future__ import annotations

from sglang_contracts.plugin.ir.nodes import (
    Attr,
    Call,
    Foreign,
    Known,
    Literal,
    LocalClass,
    LocalFunction,
    Param,
    Partial,
    PluginName,
    Self,
    Unknown,
    Wrapped,
)
from sglang_contracts.plugin.ir.records import File, Use, UseKind
from sglang_contracts.plugin.plugin import Plugin
from sglang_contracts.verify.values.value import Place

_FURTHEST = 8
"""Steps that are followed from a name to where it is made."""


class PluginIndex:
    """Answers where a plugin makes and uses what; built once, from what extraction found."""

    def __init__(self, plugin: Plugin) -> None:
        self.plugin = plugin
        self.files = plugin.files
        self._derives: dict[tuple[int, str], bool] = {}
        self._bases: set[tuple[int, str]] | None = None
        self._hosts: dict[tuple[int, str], list[tuple[int, str]]] | None = None
        self.modules: dict[str, int] = {}
        root = plugin.path.rstrip("/").rsplit("/", 1)[-1]
        for index, file in enumerate(self.files):
            if file.module:
                self.modules[file.module] = index
                self.modules.setdefault(f"{root}.{file.module}", index)
            elif file.path == "__init__.py":
                self.modules.setdefault(root, index)
        self.packages = {
            ".".join(parts[:end])
            for parts in (name.split(".") for name in self.modules)
            for end in range(1, len(parts))
        }
        self.bindings: dict[tuple[int, int], list[tuple[int, int, str]]] = {}
        """Own function (file, number) → what it is put in place of: file, node, kind of hook."""
        self.sites: dict[tuple[int, int, int], list[Place]] = {}
        """File, function and position of a parameter → what calls give for it."""
        self.attributes: dict[Place, set[str]] = {}
        """A node → names of the attributes that are read or written on it."""
        self.attempts: dict[tuple[int, int], list[int]] = {}
        """File and number of a ``try`` → numbers of the uses in its body."""
        self._link()

    def _link(self) -> None:
        for index, file in enumerate(self.files):
            for node in file.nodes:
                if type(node) is Attr and not node.name.startswith("__"):
                    self.attributes.setdefault((index, node.base), set()).add(node.name)
            for function, target, kind in file.bindings:
                found = self.own_function(index, function)
                if found is not None:
                    self.bindings.setdefault(found, []).append((index, target, kind))
            for number, use in enumerate(file.uses):
                if use.kind is UseKind.CALL:
                    self._site(index, file, use)
                elif use.kind is UseKind.WRITE and use.value:
                    self._written(index, file, use)
                guard = use.guard
                seen = set()
                while guard:
                    record = file.guards[guard]
                    if record.kind == "try" and record.condition not in seen:
                        seen.add(record.condition)
                        self.attempts.setdefault((index, record.condition), []).append(number)
                    guard = record.parent

    def _written(self, index: int, file: File, use: Use) -> None:
        """A function that is assigned to an attribute takes the place of what was there."""
        found = self.own_function(index, use.value)
        written = file.nodes[use.node]
        if found is None or type(written) is not Attr:
            return
        if not isinstance(file.nodes[written.base], (Self, LocalClass, Known)):
            value = file.nodes[use.value]
            kind = "method" if type(value) is Wrapped and value.kind == "method" else "replace"
            self.bindings.setdefault(found, []).append((index, use.node, kind))

    def _site(self, index: int, file: File, use: Use) -> None:
        node = file.nodes[use.node]
        if not isinstance(node, (Call, Partial)):
            return
        callee = file.nodes[node.callee]
        held = file.nodes[callee.base] if type(callee) is Attr else None
        skip = 0
        if type(callee) is Attr and isinstance(held, (Self, LocalClass)):
            found = self.own_method(index, held.qual, callee.name)
            if found is not None:
                kind = self.files[found[0]].functions[found[1]].kind
                skip = int(kind != "static" if type(held) is Self else kind == "class")
        else:
            found = self.own_function(index, node.callee)
        if found is None:
            return
        form = file.forms[node.form]
        record = self.files[found[0]].functions[found[1]]
        names = [each.name for each in record.parameters]
        for position, value in enumerate(form.positional):
            self.sites.setdefault((*found, position + skip), []).append((index, value))
        for keyword, value in form.keywords.items():
            if keyword in names:
                self.sites.setdefault((*found, names.index(keyword)), []).append((index, value))

    def own_method(
        self, index: int, qual: str, name: str, depth: int = 0
    ) -> tuple[int, int] | None:
        """The function of the plugin that an own class has by a name, itself or from own bases."""
        record = self.files[index].classes.get(qual)
        if record is None or depth > _FURTHEST:
            return None
        if name in record.methods:
            return index, record.methods[name]
        for base in record.bases:
            found = self.own_class(index, base)
            if found is not None:
                method = self.own_method(found[0], found[1], name, depth + 1)
                if method is not None:
                    return method
        return None

    def own_attribute(self, index: int, qual: str, name: str, depth: int = 0) -> list[Place]:
        """What an own class, or one of its own bases, keeps in an attribute."""
        record = self.files[index].classes.get(qual)
        if record is None or depth > _FURTHEST:
            return []
        found = [(index, node) for node in record.attributes.get(name, ())]
        for base in record.bases:
            own = self.own_class(index, base)
            if own is not None and own != (index, qual):
                found += self.own_attribute(own[0], own[1], name, depth + 1)
        return found

    def own_name(self, module: str, name: str, depth: int = 0) -> Place | None:
        """Where a module of the plugin binds a name."""
        index = self.modules.get(module)
        if index is None or depth > _FURTHEST:
            return None
        node = self.files[index].names.get(name)
        if node is not None:
            return index, node
        for star in self.files[index].stars:
            if not star.startswith(":"):
                found = self.own_name(star, name, depth + 1)
                if found is not None:
                    return found
        return None

    def named(self, node: PluginName) -> Place | None:
        """Where the plugin binds what one of its files takes from another; None for a module."""
        return self.own_name(node.module, node.name) if node.name else None

    def _follow(self, index: int, node: int, depth: int = 0) -> Place:
        """Through imports of the plugin's own, to where a value is made."""
        held = self.files[index].nodes[node]
        if depth >= _FURTHEST:
            return index, node
        if type(held) is PluginName:
            found = self.named(held)
            if found is not None:
                return self._follow(found[0], found[1], depth + 1)
        elif type(held) is Wrapped:
            return self._follow(index, held.value, depth + 1)
        elif type(held) is Call:  # a wrapper that returns an inner function
            at, callee = self._follow(index, held.callee, depth + 1)
            inner = self.files[at].nodes[callee]
            if type(inner) is LocalFunction:
                record = self.files[at].functions[inner.function]
                if len(record.returns) == 1:
                    return self._follow(at, record.returns[0], depth + 1)
        return index, node

    def own_function(self, index: int, node: int) -> tuple[int, int] | None:
        """The function of the plugin that a node certainly is."""
        index, node = self._follow(index, node)
        held = self.files[index].nodes[node]
        return (index, held.function) if type(held) is LocalFunction else None

    def effective(self, file: int, number: int) -> tuple[int, int] | None:
        """The function whose parameters a decorated function of the plugin really has.

        Decorators of the plugin that give back the function, or one that hands all it is given on
        to it, change nothing. None where one cannot be looked into.
        """
        record, here = self.files[file].functions[number], (file, number)
        if not record.wrapped:
            return here
        for decorator in reversed(record.decorators):
            found = self.own_function(file, decorator)
            inner = self._decorated(*found, here) if found is not None else None
            if inner is None:
                return None
            here = inner
        return here if record.decorators else None

    def _decorated(
        self, file: int, number: int, function: tuple[int, int]
    ) -> tuple[int, int] | None:
        """What a decorator of the plugin makes of a function; None where that cannot be told."""
        returns = self.files[file].functions[number].returns
        if len(returns) != 1:
            return None
        nodes = self.files[file].nodes
        if nodes[returns[0]] == Param(number, 0):
            return function
        made = self.own_function(file, returns[0])
        if made is None or made[0] != file:
            return None
        inner = self.files[file].functions[made[1]]
        kinds = [each.kind for each in inner.parameters]
        if 2 not in kinds and 4 not in kinds:
            return made
        plain = sum(kind < 2 or kind == 3 for kind in kinds)
        if plain > 1 or not inner.hands_on or inner.wrapped:
            return None
        for use in self.files[file].uses:
            if use.kind is not UseKind.CALL or use.function != made[1]:
                continue
            called = nodes[use.node]
            if type(called) is Call and nodes[called.callee] == Param(number, 0):
                form = self.files[file].forms[called.form]
                passed = len(form.positional) == plain and not form.keywords
                return function if form.star and form.double_star and passed else None
        return None

    def own_class(self, index: int, node: int) -> tuple[int, str] | None:
        """The class of the plugin that a node certainly is."""
        index, node = self._follow(index, node)
        held = self.files[index].nodes[node]
        return (index, held.qual) if type(held) is LocalClass else None

    def own_called(self, index: int, node: int) -> tuple[int, int] | None:
        """The method of the plugin that ``self.method()`` calls."""
        held = self.files[index].nodes[node]
        if type(held) is not Attr:
            return None
        base = self.files[index].nodes[held.base]
        if not isinstance(base, (Self, LocalClass)):
            return None
        return self.own_method(index, base.qual, held.name)

    def is_base(self, index: int, qual: str) -> bool:
        """Whether another class of the plugin derives from one: an object may be of that."""
        if self._bases is None:
            self._bases = {
                own
                for at, file in enumerate(self.files)
                for record in file.classes.values()
                for base in record.bases
                if (own := self.own_class(at, base)) is not None
            }
        return (index, qual) in self._bases

    def host(self, index: int, qual: str) -> tuple[int, str] | None:
        """The one class that a class without bases is mixed into, in front of other bases."""
        record = self.files[index].classes.get(qual)
        if record is None or record.bases or record.open:
            return None
        if self._hosts is None:
            self._hosts = {}
            for at, file in enumerate(self.files):
                for each, other in file.classes.items():
                    for base in other.bases:
                        own = self.own_class(at, base)
                        if own is not None:
                            self._hosts.setdefault(own, []).append((at, each))
        hosts = self._hosts.get((index, qual), [])
        if len(hosts) != 1 or hosts[0] == (index, qual):
            return None
        return hosts[0] if len(self.bases_behind(hosts[0], (index, qual))) > 0 else None

    def bases_behind(self, host: tuple[int, str], mixin: tuple[int, str]) -> list[int]:
        """Bases of a class (nodes of its file) that stand behind one of its mixins."""
        bases = self.files[host[0]].classes[host[1]].bases
        places = [at for at, base in enumerate(bases) if self.own_class(host[0], base) == mixin]
        return bases[places[0] + 1 :] if places else []

    def defined_below(self, index: int, qual: str, name: str) -> bool:
        """Whether a class of the plugin that derives from one defines a method."""
        return self.is_base(index, qual) and any(
            name in record.methods and self.descends(at, each, (index, qual), 0)
            for at, file in enumerate(self.files)
            for each, record in file.classes.items()
        )

    def descends(self, index: int, qual: str, wanted: tuple[int, str], depth: int = 0) -> bool:
        """Whether a class of the plugin derives from another one of it."""
        record = self.files[index].classes.get(qual)
        if record is None or depth > 10:
            return False
        bases = [own for base in record.bases if (own := self.own_class(index, base))]
        return wanted in bases or any(
            self.descends(own[0], own[1], wanted, depth + 1) for own in bases
        )

    def may_derive(self, index: int, qual: str) -> bool:
        """Whether an own class may have an upstream base, in any release."""
        key = (index, qual)
        if key not in self._derives:
            self._derives[key] = False  # a class that inherits from itself ends here
            self._derives[key] = self._may_derive(index, qual)
        return self._derives[key]

    def _may_derive(self, index: int, qual: str) -> bool:
        record = self.files[index].classes.get(qual)
        for base in record.bases if record is not None else ():
            at, node = self._follow(index, base)
            held = self.files[at].nodes[node]
            if type(held) is LocalClass:
                if self.may_derive(at, held.qual):
                    return True
            elif not isinstance(held, (Unknown, Foreign, Literal)):
                return True
        host = self.host(index, qual)
        return host is not None and self.may_derive(*host)
