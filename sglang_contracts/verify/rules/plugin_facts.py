"""Facts about a plugin as a whole that several detections ask for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from sglang_contracts.plugin.ir.nodes import (
    Attr,
    Call,
    Foreign,
    Has,
    HasNamed,
    LocalClass,
    Self,
    Unknown,
)
from sglang_contracts.plugin.ir.records import File, UseKind
from sglang_contracts.verify.values.evaluator import Evaluator


class Plugin(Protocol):
    """A plugin's files, and what their nodes are."""

    @property
    def evaluator(self) -> Evaluator:
        """Works out values."""

    @property
    def files(self) -> Sequence[File]:
        """The records of all files."""


def assigned_attributes(plugin: Plugin) -> dict[str, list[tuple[int, int, int]]]:
    """Attribute → (file, node, value) of what the plugin assigns to it on other objects."""
    found: dict[str, list[tuple[int, int, int]]] = {}
    for index, file in enumerate(plugin.files):
        for use in file.uses:
            if use.kind is UseKind.WRITE and use.value:
                node = file.nodes[use.node]
                if type(node) is Attr and not isinstance(file.nodes[node.base], (Self, LocalClass)):
                    found.setdefault(node.name, []).append((index, use.node, use.value))
    return found


class Written(NamedTuple):
    """A place at which the plugin assigns an attribute."""

    file: int
    function: int
    line: int
    base: int
    """The node that is written to."""


def written_attributes(plugin: Plugin) -> dict[str, list[Written]]:
    """Attribute → the first place in each function at which the plugin assigns it on an object."""
    found: dict[str, dict[tuple[int, int, int], Written]] = {}
    for index, file in enumerate(plugin.files):
        for use in file.uses:
            node = file.nodes[use.node]
            if use.kind is UseKind.WRITE and type(node) is Attr:
                places = found.setdefault(node.name, {})
                key = (index, use.function, node.base)
                if key not in places or use.line < places[key].line:
                    places[key] = Written(index, use.function, use.line, node.base)
    return {name: list(places.values()) for name, places in found.items()}


def questioned_values(file: File) -> frozenset[int]:
    """Values that the plugin looks at, itself or through code not known here."""
    found: set[int] = set()
    for each in file.nodes:
        if (
            type(each) is Has
            or type(each) is HasNamed
            or (type(each) is Attr and each.name == "__class__")
        ):
            found.add(each.base)
        elif type(each) is Call and isinstance(file.nodes[each.callee], (Foreign, Unknown)):
            form = file.forms[each.form]
            found.update(form.positional, form.keywords.values())
    return frozenset(found)


def installed_classes(plugin: Plugin) -> set[tuple[int, str]]:
    """Own classes that are written to an attribute of upstream, or given to a hook."""
    found = {
        plugin.evaluator.index.own_class(index, use.value)
        for index, file in enumerate(plugin.files)
        for use in file.uses
        if use.kind in (UseKind.WRITE, UseKind.HOOK) and use.value
    }
    return {own for own in found if own is not None}


def constructed_classes(plugin: Plugin) -> set[tuple[int, str]]:
    """Own classes that the plugin makes instances of itself."""
    found: set[tuple[int, str]] = set()
    for index, file in enumerate(plugin.files):
        for node in file.nodes:
            if type(node) is Call:
                own = plugin.evaluator.index.own_class(index, node.callee)
                if own is not None:
                    found.add(own)
    return found


def extended_classes(plugin: Plugin) -> set[tuple[int, str]]:
    """Own classes that other own classes derive from."""
    found: set[tuple[int, str]] = set()
    for index, file in enumerate(plugin.files):
        for record in file.classes.values():
            for base in record.bases:
                own = plugin.evaluator.index.own_class(index, base)
                if own is not None:
                    found.add(own)
    return found


def with_subclasses(plugin: Plugin, index: int, qual: str) -> list[tuple[int, str]]:
    """An own class (file, name) and all own classes that derive from it."""
    found = [(index, qual)]
    for one in found:
        for number, file in enumerate(plugin.files):
            for name, record in file.classes.items():
                owns = (plugin.evaluator.index.own_class(number, base) for base in record.bases)
                if (number, name) not in found and one in owns:
                    found.append((number, name))
    return found


def own_members(plugin: Plugin, index: int, qual: str, depth: int = 0) -> set[str]:
    """Names an own class defines, its own bases included."""
    record = plugin.files[index].classes.get(qual)
    if record is None or depth > 10:
        return set()
    found = set(record.methods) | set(record.attributes)
    for base in record.bases:
        own = plugin.evaluator.index.own_class(index, base)
        if own is not None:
            found |= own_members(plugin, own[0], own[1], depth + 1)
    return found
