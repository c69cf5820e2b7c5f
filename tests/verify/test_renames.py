"""A field that only changed its name is told as renamed: over every contracted one."""

from __future__ import annotations

import hashlib

import msgspec
import pytest

from sglang_contracts.contract import Kind, load_contracts
from sglang_contracts.surface import load_catalog
from sglang_contracts.surface.model import Class
from sglang_contracts.surface.surface import Surface
from sglang_contracts.verify.suggest.replacements import Replacements


class Renamed(Surface):
    """A copy of a release in which one attribute of a class has another name, at its place."""

    def __init__(self, catalog, release, module, qual, old, new):
        super().__init__(catalog, release)
        original = catalog.surface(release)
        original.has_module("nowhere")  # which folders there are is the same: work it out once
        self._ordered = original._ordered
        self.__dict__["_names"] = original.module_names()
        self._changed = (module, qual.split("."), old, new)

    def module(self, name):
        record = super().module(name)
        module, quals, old, new = self._changed
        if name != module or record is None:
            return record
        classes = dict(record.classes)
        classes[quals[0]] = _renamed(classes[quals[0]], quals[1:], old, new)
        return msgspec.structs.replace(record, classes=classes)


def _renamed(node: Class, quals, old, new):
    if quals:
        inner = dict(node.classes)
        inner[quals[0]] = _renamed(inner[quals[0]], quals[1:], old, new)
        return msgspec.structs.replace(node, classes=inner)
    attributes = {(new if name == old else name): value for name, value in node.attributes.items()}
    return msgspec.structs.replace(node, attributes=attributes)


class Two:
    """The catalog a comparison sees: a release as it is, and its copy as the one after it."""

    def __init__(self, catalog, before, after):
        self.releases = (before.release, "copy")
        self._surfaces = {before.release: before, "copy": after}
        self._catalog = catalog

    def surface(self, release):
        return self._surfaces[release]


def contracted_fields(catalog):
    """Each contracted field with the newest release that declares it, in its defining class."""
    seen = set()
    for contract in load_contracts():
        for clause in contract.clauses:
            if clause.kind is not Kind.FIELD:
                continue
            for release in reversed(catalog.releases):
                found = next(
                    filter(None, map(catalog.surface(release).parse, clause.symbols)), None
                )
                if found is None:
                    continue
                if found.kind == "attribute" and found.owner is not None:
                    record = catalog.surface(release).module(found.module)
                    own = record.classes.get(found.owner.qual.split(".")[0])
                    key = found.name
                    if key not in seen and own is not None and _declares(own, found):
                        seen.add(key)
                        yield release, found
                break


def _declares(node, found):
    for name in found.owner.qual.split(".")[1:]:
        node = node.classes.get(name)
        if node is None:
            return False
    return found.qual.rpartition(".")[2] in node.attributes


@pytest.fixture(scope="module")
def catalog():
    return load_catalog()


def test_a_renamed_field_is_told_with_its_new_name(catalog):
    told, missed = 0, []
    for release, found in contracted_fields(catalog):
        old = found.qual.rpartition(".")[2]
        new = "f" + hashlib.sha256(found.name.encode()).hexdigest()[:10]
        copy = Renamed(catalog, release, found.module, found.owner.qual, old, new)
        two = Two(catalog, catalog.surface(release), copy)
        suggestion = Replacements(two).of_member(found, release, "copy")
        if suggestion is not None and suggestion.symbol.rpartition(".")[2] == new:
            told += 1
        else:
            missed.append(found.name)
    total = told + len(missed)
    assert total > 500
    assert told / total >= 0.95, f"{told} of {total}; e.g. {missed[:20]}"
