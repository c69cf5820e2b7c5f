"""Containers of the plugin's own: what is put into each, wherever, and what comes out again."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from sglang_contracts.plugin.ir.nodes import (
    Attr,
    Call,
    Filled,
    Foreign,
    Item,
    Iter,
    Kept,
    LocalClass,
    Operation,
    PluginName,
    Self,
    Slice,
    Unpack,
)
from sglang_contracts.plugin.ir.records import OwnClass
from sglang_contracts.verify.values.plugin_index import PluginIndex
from sglang_contracts.verify.values.value import (
    NOTHING,
    DictValue,
    ListValue,
    OwnObject,
    TupleValue,
    Value,
    dict_of,
    list_of,
    one,
    tuple_of,
    union,
)

_STEPS = 8
"""Steps that are followed from a value to the container it is, or is held in."""
_HANDING_OUT = frozenset(
    {"get", "get_nowait", "pop", "popleft", "popitem", "setdefault", "values", "items", "copy"}
    | {"result"}
)
"""Methods of containers that hand out what is held."""

ValueOf = Callable[[int, int], Value]
"""File and node → its value in the present release."""


class Site(NamedTuple):
    """A container, or what stands in it some levels down."""

    file: int
    number: int
    depth: int


class Held(NamedTuple):
    """A node that is put into a container, in so many containers of its own."""

    file: int
    node: int
    depth: int


class Containers:
    """Answers which nodes a container holds; worked out once, from what extraction found."""

    def __init__(self, index: PluginIndex) -> None:
        self.index = index
        self.files = index.files
        self._held: dict[tuple[int, int], list[Held]] | None = None

    def held(self, file: int, number: int) -> list[Held]:
        """What is put into a container."""
        if self._held is None:
            self._held = {}
            for at, record in enumerate(self.files):
                for put in record.puts:
                    into = self._sites(at, put.container)
                    taken = {each[:2] for each in self._sites(at, put.value) if each.depth}
                    for site in into:
                        if site[:2] in taken:
                            continue  # what is taken out and put in again adds nothing
                        rows = self._held.setdefault(site[:2], [])
                        row = Held(at, put.value, site.depth)
                        if row not in rows:
                            rows.append(row)
        return self._held.get((file, number), [])

    def _sites(self, file: int, node: int, depth: int = 0, steps: int = 0) -> list[Site]:
        """The containers that a node is, or is held in."""
        held = self.files[file].nodes[node]
        if steps > _STEPS:
            return []
        if type(held) is Filled:
            return [Site(file, held.site, depth)]
        if type(held) is Attr:
            base = self.files[file].nodes[held.base]
            if isinstance(base, (Self, LocalClass)):
                return [
                    site
                    for each in self.index.own_attribute(file, base.qual, held.name)
                    for site in self._sites(*each, depth, steps + 1)
                ]
            if type(base) is PluginName and not base.name:
                found = self.index.own_name(base.module, held.name)
                return self._sites(*found, depth, steps + 1) if found else []
        elif type(held) is PluginName:
            found = self.index.named(held)
            return self._sites(*found, depth, steps + 1) if found else []
        elif type(held) is Kept:
            return [
                site
                for each in self.files[file].kept.get(held.name, ())
                for site in self._sites(file, each, depth, steps + 1)
            ]
        elif type(held) is Slice:
            return self._sites(file, held.base, depth, steps + 1)
        elif isinstance(held, (Item, Iter, Unpack)):
            return self._sites(file, held.base, depth + 1, steps + 1)
        elif type(held) is Call:
            callee = self.files[file].nodes[held.callee]
            if type(callee) is Attr and callee.name in _HANDING_OUT:
                level = depth + int(callee.name not in ("values", "copy"))
                return self._sites(file, callee.base, level, steps + 1)
        return []

    def value(self, index: int, node: Filled, of: ValueOf) -> Value:
        """A container with all that is put into it; unknown elements make all of them unknown."""
        values = [of(index, node.start)] if node.start else []
        for each in self.held(index, node.site):
            value = of(each.file, each.node)
            if value.is_none():
                continue
            for _ in range(each.depth):
                value = list_of(value)
            values.append(value)
        element = union(values) if values else NOTHING
        return dict_of(element) if node.mapping else list_of(element)

    def kept(self, index: int, node: Kept, of: ValueOf) -> Value:
        """What functions bind a name of their module to, ``None`` aside."""
        values = [of(index, each) for each in self.files[index].kept.get(node.name, ())]
        values = [value for value in values if not value.is_none()]
        return union(values) if values else NOTHING

    def entry(self, each: OwnObject, key: str | None, of: ValueOf) -> Value:
        """``entry["key"]`` of a ``TypedDict`` of the plugin."""
        record = self.files[each.file].classes.get(each.qual)
        if record is None or key is None or not self.is_typed_dict(each):
            return NOTHING
        note = record.declared.get(key)
        return of(each.file, note) if note else NOTHING

    def is_typed_dict(self, each: OwnObject) -> bool:
        """Whether an object is a dict of declared keys."""
        record = self.files[each.file].classes.get(each.qual)
        return record is not None and self._derives(each.file, record, "TypedDict")

    def fields(self, each: OwnObject, of: ValueOf) -> Value:
        """An object of a ``NamedTuple`` of the plugin, as the tuple that it is."""
        record = self.files[each.file].classes.get(each.qual)
        if record is None or not self._derives(each.file, record, "NamedTuple"):
            return NOTHING
        return tuple_of([of(each.file, note) for note in record.declared.values()])

    def _derives(self, file: int, record: OwnClass, name: str) -> bool:
        bases = (self.files[file].nodes[base] for base in record.bases)
        return any(type(base) is Foreign and base.name == name for base in bases)


def hands_out(node: Operation) -> bool:
    """Whether an attribute is a method of containers that hands out what is held."""
    return type(node) is Attr and node.name in _HANDING_OUT


def element(value: Value, subscript: bool = False) -> Value:
    """An element of a container; of a mapping, where it is subscripted."""
    found = []
    for each in value.alternatives:
        if type(each) is ListValue or (type(each) is DictValue and subscript):
            found.append(each.element)
        elif type(each) is TupleValue and each.elements:
            found.append(union(each.elements))
        else:
            return NOTHING
    return union(found) if found else NOTHING


def handed_out(value: Value, method: str) -> Value:
    """What a method of a list or of a mapping gives, where it hands out what is held."""
    found = []
    for each in value.alternatives:
        if type(each) is not ListValue and type(each) is not DictValue:
            return NOTHING
        if method == "values":
            found.append(list_of(each.element))
        elif method == "items" and type(each) is DictValue:
            found.append(list_of(tuple_of([NOTHING, each.element])))
        elif method == "popitem":
            found.append(tuple_of([NOTHING, each.element]))
        elif method == "copy":
            found.append(one(each))
        else:
            found.append(each.element)
    return union(found) if found else NOTHING
