"""What a plugin relies on and no release can tell: the reasons for which a verdict is unknown.

A name that no recorded release has is an error where its module is closed (``name_gone``,
``member_gone``). Where the module is open, where the part of SGLang is not recorded, or where the
name is computed while the plugin runs, nothing can be said: the report names the place, and the
verdict of every release is *unknown*, never *compatible*.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sglang_contracts.plugin.ir.nodes import (
    UNKNOWN,
    Attr,
    Call,
    Dotted,
    Foreign,
    Import,
    Item,
    Iter,
    ListOf,
    Unpack,
)
from sglang_contracts.plugin.ir.records import File, UseKind
from sglang_contracts.plugin.walk.except_clauses import IMPORT_ERRORS
from sglang_contracts.surface.wheel import covered
from sglang_contracts.verify.findings.aims import FOR_FORK, FOR_NEWER
from sglang_contracts.verify.findings.finding import Location, Unresolved

NOT_RECORDED = "not-recorded"
"""It hooks, patches or imports a part of SGLang of which nothing is recorded."""
COMPUTED_PATCH = "computed-patch"
"""It assigns attributes of SGLang's under names that are computed while it runs."""
SWALLOWED = "swallowed-star"
"""A star import is swallowed where it fails: what it binds, and what it does, is not known."""
NEVER_A_MEMBER = "never-a-member"
"""No recorded release has the attribute, which the object may be given while the plugin runs."""
OPEN_MODULE = "open-module"
"""No recorded release has the name, and its module makes names while it runs."""

_ANY_ERROR = frozenset({"Exception", "BaseException", "*"})
_FINDERS = frozenset({"functools", "importlib", "operator", "sys"})
"""Modules whose functions lead to things by names that are computed."""

REASONS = {
    FOR_FORK: "is in no recorded release, and the plugin is for a fork of SGLang",
    FOR_NEWER: "is in no recorded release, and the plugin is for a newer one",
    NOT_RECORDED: "is in a part of SGLang that is not recorded",
    COMPUTED_PATCH: "is patched under a name that is computed while the plugin runs",
    SWALLOWED: "is imported with a star, and swallowed where it fails: what it brings is not known",
    NEVER_A_MEMBER: "is in no recorded release, and may be set while the plugin runs",
    OPEN_MODULE: "is in no recorded release, and its module makes names while it runs",
}
"""Reason → what a report says of the symbol."""


def in_any_release(files: Sequence[File]) -> tuple[Unresolved, ...]:
    """What cannot be told of whatever release: unrecorded parts, computed patches."""
    found: dict[Unresolved, None] = {}
    for file in files:
        for each in (*_not_recorded(file), *_computed(file), *_swallowed(file)):
            found[each] = None
    return tuple(found)


def _not_recorded(file: File) -> Iterator[Unresolved]:
    """Unguarded imports, hooks and patches of parts of SGLang that are not recorded."""
    for use in file.uses:
        node = file.nodes[use.node]
        if type(node) is Import and use.kind is UseKind.IMPORT:
            module = node.module
            symbol = f"{module}:{node.name}" if node.name else module
        elif type(node) is Dotted and use.kind in (UseKind.HOOK, UseKind.DOTTED):
            if use.name == "probe":
                continue
            module, symbol = node.text.partition(":")[0], node.text
        else:
            continue
        if not (module + ".").startswith("sglang.") or covered(module):
            continue
        if not _has_other_way(file, use.guard):
            yield Unresolved(NOT_RECORDED, symbol, Location(file.path, use.line, use.column))


def _computed(file: File) -> Iterator[Unresolved]:
    """``setattr(module, computed, …)`` on what is of SGLang, or was found by a computed name."""
    for base, line in file.computed:
        root = base
        while type(node := file.nodes[root]) is Attr:
            root = node.base
        if type(node) is Import and (node.module + ".").startswith("sglang."):
            name = f"{node.module}:{node.name}" if node.name else node.module
        elif file.searches and _found_by_computing(file, base):
            name = "sglang"
        else:
            continue
        yield Unresolved(COMPUTED_PATCH, name, Location(file.path, line))


def _swallowed(file: File) -> Iterator[Unresolved]:
    """``try: from other import *`` that is swallowed: what it binds, and patches, is not known.

    Where the module's name says that it is about SGLang; of another, in a file that takes something
    from SGLang, where whatever it raises is caught: an optional dependency asks for ImportError.
    """
    takes = any(isinstance(node, (Import, Dotted)) for node in file.nodes)
    for module, line, guard in file.foreign_stars:
        errors = IMPORT_ERRORS if "sglang" in module else _ANY_ERROR
        if (takes or "sglang" in module) and _is_swallowed(file, guard, errors):
            yield Unresolved(SWALLOWED, module, Location(file.path, line))


def _is_swallowed(file: File, guard: int, errors: frozenset[str]) -> bool:
    """Whether a ``try`` around something catches such a failure and goes on without it."""
    while guard:
        record = file.guards[guard]
        if record.kind == "try":
            attempt = file.attempts[record.condition]
            if not attempt.raises and not errors.isdisjoint(attempt.catches):
                return True
        guard = record.parent
    return False


def _found_by_computing(file: File, base: int) -> bool:
    """Whether nothing tells what a value is, or it is from ``sys.modules``, ``reduce(getattr)``."""
    node = file.nodes[base]
    while isinstance(node, (Attr, Item, Iter, ListOf, Unpack)):
        node = file.nodes[node.element if isinstance(node, ListOf) else node.base]
    while type(node) is Call:
        node = file.nodes[node.callee]
    if type(node) is Foreign:
        return node.module in _FINDERS
    return base == UNKNOWN


def _has_other_way(file: File, guard: int) -> bool:
    """Whether code under a guard runs for type checkers alone, or does without what it asks for."""
    while guard:
        record = file.guards[guard]
        if record.kind == "typing":
            return True
        if record.kind == "try":
            attempt = file.attempts[record.condition]
            if not attempt.raises and attempt.catches:
                return True
        guard = record.parent
    return False
