"""What links the parts of a plugin: no release changes it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sglang_contracts.plugin.ir.records import File, Use, UseKind
from sglang_contracts.plugin.plugin import Plugin
from sglang_contracts.surface.symbol import Symbol
from sglang_contracts.verify.answers.lens import Lens
from sglang_contracts.verify.answers.memory import Underway
from sglang_contracts.verify.values.value import (
    Look,
    Node,
    Value,
)


class Links:
    """What belongs together in a plugin: names, functions, call sites, stand-ins.

    Args:
        plugin: What extraction found.
        lens: The releases.
        known_as: Conventional name → spellings of classes.
        distinctive: Attribute whose name alone tells what is meant → spellings of its class.
    """

    def __init__(
        self,
        plugin: Plugin,
        lens: Lens,
        known_as: Mapping[str, Sequence[str]],
        distinctive: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        self.plugin = plugin
        self.lens = lens
        self.known_as = known_as
        self.distinctive = distinctive or {}
        self.files = plugin.files
        self.underway = Underway()
        """Values being worked out."""
        self._asking: dict[tuple[int, int, str], int] = {}
        """Attributes whose truth is being worked out, with the place of the value that asked."""
        self._returning: dict[str, int] = {}
        """Functions whose result is being worked out, with the place of who asked first."""
        self._derives: dict[tuple[int, str], bool] = {}
        self._bases: set[tuple[int, str]] | None = None
        self._hosts: dict[tuple[int, str], list[tuple[int, str]]] | None = None
        self._searched: dict[tuple[int, str, str, bool], Look | None] = {}
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
        self.sites: dict[tuple[int, int, int], list[tuple[int, int]]] = {}
        """File, function and position of a parameter → file and node of what calls give for it."""
        self.attributes: dict[Node, set[str]] = {}
        self.attempts: dict[tuple[int, int], list[int]] = {}
        self._link()
        self.status_of: Any = None
        """Set by the checker: the status of a use (for ``try`` bodies)."""

    def _link(self) -> None:
        for index, file in enumerate(self.files):
            for node in file.nodes:
                if node[0] == "attr" and not node[2].startswith("__"):
                    self.attributes.setdefault((index, node[1]), set()).add(node[2])
            for function, target, kind in file.bindings:
                found = self.own_function(index, function)
                if found is not None:
                    self.bindings.setdefault(found, []).append((index, target, kind))
            for number, use in enumerate(file.uses):
                if use.kind is UseKind.CALL:
                    self._site(index, file, use)
                elif use.kind is UseKind.WRITE and use.value:
                    found = self.own_function(index, use.value)
                    base = file.nodes[file.nodes[use.node][1]]
                    if found is not None and base[0] not in ("self", "ownclass", "known"):
                        self.bindings.setdefault(found, []).append((index, use.node, "replace"))
                guard = use.guard
                seen = set()
                while guard:
                    record = file.guards[guard]
                    if record.kind == "try" and record.condition not in seen:
                        seen.add(record.condition)
                        self.attempts.setdefault((index, record.condition), []).append(number)
                    guard = record.parent

    def _site(self, index: int, file: File, use: Use) -> None:
        node = file.nodes[use.node]
        if node[0] not in ("call", "partial"):
            return
        callee = file.nodes[node[1]]
        found: tuple[int, int] | None = None
        skip = 0
        if callee[0] == "attr" and file.nodes[callee[1]][0] == "self":
            qual = file.nodes[callee[1]][1]
            method = self._own_method(index, qual, callee[2])
            if method is not None:
                found = method
                record = self.files[found[0]].functions[found[1]]
                skip = 0 if record.kind == "static" else 1
        elif callee[0] == "attr" and file.nodes[callee[1]][0] == "ownclass":
            found = self._own_method(index, file.nodes[callee[1]][1], callee[2])
            if found is not None:
                skip = int(self.files[found[0]].functions[found[1]].kind == "class")
        else:
            found = self.own_function(index, node[1])
        if found is None:
            return
        form = file.forms[node[2]]
        record = self.files[found[0]].functions[found[1]]
        names = [each.name for each in record.parameters]
        for position, value in enumerate(form.positional):
            self.sites.setdefault((*found, position + skip), []).append((index, value))
        for keyword, value in form.keywords.items():
            if keyword in names:
                place = names.index(keyword)
                self.sites.setdefault((*found, place), []).append((index, value))

    def _own_method(
        self, index: int, qual: str, name: str, depth: int = 0
    ) -> tuple[int, int] | None:
        record = self.files[index].classes.get(qual)
        if record is None or depth > 8:
            return None
        if name in record.methods:
            return index, record.methods[name]
        for base in record.bases:
            found = self.own_class(index, base)
            if found is not None:
                method = self._own_method(found[0], found[1], name, depth + 1)
                if method is not None:
                    return method
        return None

    def own_name(self, module: str, name: str, depth: int = 0) -> tuple[int, int] | None:
        """Where a module of the plugin binds a name: file and node."""
        index = self.modules.get(module)
        if index is None or depth > 8:
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

    def _follow(self, index: int, node: int, depth: int = 0) -> tuple[int, int]:
        """Through imports of the plugin's own, to where a value is made."""
        held = self.files[index].nodes[node]
        if held[0] == "own" and held[2] and depth < 8:
            found = self.own_name(held[1], held[2])
            if found is not None:
                return self._follow(found[0], found[1], depth + 1)
        if held[0] == "wrapped" and depth < 8:
            return self._follow(index, held[2], depth + 1)
        if held[0] == "call" and depth < 8:  # a wrapper that returns an inner function
            callee = self._follow(index, held[1], depth + 1)
            inner = self.files[callee[0]].nodes[callee[1]]
            if inner[0] == "ownfunc":
                record = self.files[callee[0]].functions[inner[1]]
                if len(record.returns) == 1:
                    return self._follow(callee[0], record.returns[0], depth + 1)
        return index, node

    def own_function(self, index: int, node: int) -> tuple[int, int] | None:
        """The function of the plugin that a node certainly is."""
        index, node = self._follow(index, node)
        held = self.files[index].nodes[node]
        return (index, int(held[1])) if held[0] == "ownfunc" else None

    def own_class(self, index: int, node: int) -> tuple[int, str] | None:
        """The class of the plugin that a node certainly is."""
        index, node = self._follow(index, node)
        held = self.files[index].nodes[node]
        return (index, str(held[1])) if held[0] == "ownclass" else None

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
            name in record.methods and self._descends(at, each, (index, qual), 0)
            for at, file in enumerate(self.files)
            for each, record in file.classes.items()
        )

    def _descends(self, index: int, qual: str, wanted: tuple[int, str], depth: int) -> bool:
        record = self.files[index].classes.get(qual)
        if record is None or depth > 10:
            return False
        bases = [own for base in record.bases if (own := self.own_class(index, base))]
        return wanted in bases or any(
            self._descends(own[0], own[1], wanted, depth + 1) for own in bases
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
            if held[0] == "ownclass":
                if self.may_derive(at, held[1]):
                    return True
            elif held[0] not in ("unknown", "foreign", "literal"):
                return True
        host = self.host(index, qual)
        return host is not None and self.may_derive(*host)

    # -- what the classes above add ----------------------------------------------------------------

    def value(self, index: int, node: int) -> Value:
        """What a node is in the present release."""
        raise NotImplementedError

    def union(self, values: Sequence[Value]) -> Value:
        """One of several; unknown if one is."""
        raise NotImplementedError

    def own_member(self, module: str, name: str) -> Value:
        """A name of one of the plugin's modules."""
        raise NotImplementedError

    def own_returned(self, file: int, number: int) -> Value:
        """What a call of a function of the plugin gives."""
        raise NotImplementedError

    def returned(self, symbol: Symbol) -> Value:
        """What a call of a function of the release gives."""
        raise NotImplementedError
