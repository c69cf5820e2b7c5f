"""Modules and classes that tell which of their definitions are looked at.

To whoever reads them they are records like all others. A view stays good from release to release:
it shows the release at hand, and who looked at a definition is told when that has changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Generic, TypeVar, overload

from sglang_contracts.surface.lazy import raws_of
from sglang_contracts.surface.model import Class, Module
from sglang_contracts.verify.memory import Key, Memory

T = TypeVar("T")
D = TypeVar("D")

NAMES = "*"
"""Stands for the names of all definitions, and their order."""
_IN_MODULES = ("classes", "functions", "values", "imports")
_IN_CLASSES = ("attributes", "methods", "classes")


class View(Mapping[str, T], Generic[T]):
    """Definitions of one sort of a module or a class of the release at hand.

    Args:
        memory: Is told what is looked at.
        prefix: Of the keys it is told: the module, or module and class.
        looked_at: Collects the names that were looked at.
        current: The definitions in the release at hand.
    """

    __slots__ = ("_current", "_looked_at", "_memory", "_prefix")

    def __init__(
        self,
        memory: Memory,
        prefix: tuple[str, ...],
        looked_at: set[str],
        current: Callable[[], Mapping[str, T]],
    ) -> None:
        self._memory = memory
        self._prefix = prefix
        self._looked_at = looked_at
        self._current = current

    def _look(self, name: str) -> None:
        self._looked_at.add(name)
        self._memory.touch((*self._prefix, name))

    def __getitem__(self, name: str) -> T:
        self._look(name)
        return self._current()[name]

    @overload
    def get(self, name: str, /) -> T | None: ...
    @overload
    def get(self, name: str, /, default: T | D) -> T | D: ...
    def get(self, name: str, /, default: D | None = None) -> T | D | None:
        """The definition of that name; ``default`` where there is none."""
        self._look(name)
        return self._current().get(name, default)

    def __contains__(self, name: object) -> bool:
        self._look(str(name))
        return name in self._current()

    def __iter__(self) -> Iterator[str]:
        self._look(NAMES)
        return iter(self._current())

    def __len__(self) -> int:
        self._look(NAMES)
        return len(self._current())


class TrackedClass:
    """A class at the top of a module, in one release after the other.

    Args:
        memory: Is told what is looked at.
        key: Module and name.
        record: What it is in the release at hand.
    """

    def __init__(self, memory: Memory, key: tuple[str, str], record: Class) -> None:
        self._memory = memory
        self._key = key
        self._record = record
        self._looked_at: set[str] = set()
        self.view = self._make_view()

    def _make_view(self) -> Class:
        def members(current: Callable[[], Mapping[str, T]]) -> View[T]:
            return View(self._memory, self._key, self._looked_at, current)

        record = self._record
        return Class(
            record.bases,
            record.kind,
            members(lambda: self._record.attributes),
            members(lambda: self._record.methods),
            members(lambda: self._record.classes),
            record.decorators,
            record.condition,
        )

    def move(self, record: Class) -> set[Key]:
        """Show another release's; what was looked at and is not the same there."""
        old, self._record = self._record, record
        changed: set[Key] = {
            (*self._key, name)
            for name in self._looked_at
            if not _same(old, record, _IN_CLASSES, name)
        }
        if _class_header(old) != _class_header(record):
            self.view = self._make_view()
            changed.add(self._key)
        return changed

    def everything(self) -> set[Key]:
        """Everything that was looked at."""
        return {self._key, *((*self._key, name) for name in self._looked_at)}


class TrackedModule:
    """A module in one release after the other.

    Args:
        memory: Is told what is looked at.
        name: The module's.
        record: What it is in the release at hand.
    """

    def __init__(self, memory: Memory, name: str, record: Module) -> None:
        self._memory = memory
        self._name = name
        self._record = record
        self._looked_at: set[str] = set()
        self._classes: dict[str, TrackedClass] = {}
        self.view = self._make_view()

    def _make_view(self) -> Module:
        def definitions(current: Callable[[], Mapping[str, T]]) -> View[T]:
            return View(self._memory, (self._name,), self._looked_at, current)

        record = self._record
        return Module(
            record.package,
            definitions(lambda: _Classes(self._class, self._record.classes)),
            definitions(lambda: self._record.functions),
            definitions(lambda: self._record.values),
            definitions(lambda: self._record.imports),
            record.stars,
            record.exports,
            record.lazy,
            record.problem,
        )

    def _class(self, name: str) -> Class:
        found = self._classes.get(name)
        if found is None:
            record = self._record.classes[name]
            found = self._classes[name] = TrackedClass(self._memory, (self._name, name), record)
        return found.view

    def move(self, record: Module) -> set[Key]:
        """Show another release's; what was looked at and is not the same there."""
        old, self._record = self._record, record
        changed: set[Key] = set()
        for name in self._looked_at:
            if _same(old, record, _IN_MODULES, name):
                continue
            tracked = self._classes.get(name)
            rest = _IN_MODULES[1:]
            if tracked is not None and name in record.classes and _same(old, record, rest, name):
                changed |= tracked.move(record.classes[name])
                continue
            changed.add((self._name, name))
            if tracked is not None:
                changed |= self._classes.pop(name).everything()
        if _module_header(old) != _module_header(record):
            self.view = self._make_view()
            changed.add(self._name)
        return changed

    def everything(self) -> set[Key]:
        """Everything that was looked at."""
        keys: set[Key] = {self._name, *((self._name, name) for name in self._looked_at)}
        return keys.union(*(each.everything() for each in self._classes.values()))


class _Classes(Mapping[str, Class]):
    """A module's classes, each as a view."""

    __slots__ = ("_records", "_view")

    def __init__(self, view: Callable[[str], Class], records: Mapping[str, Class]) -> None:
        self._view = view
        self._records = records

    def __getitem__(self, name: str) -> Class:
        return self._view(name)

    def __contains__(self, name: object) -> bool:
        return name in self._records

    def __iter__(self) -> Iterator[str]:
        return iter(self._records)

    def __len__(self) -> int:
        return len(self._records)


def _same(old: object, new: object, tables: tuple[str, ...], name: str) -> bool:
    """Whether a name's definitions are the same, by their bytes."""
    for table in tables:
        one, other = raws_of(getattr(old, table)), raws_of(getattr(new, table))
        if name == NAMES:
            if list(one) != list(other):
                return False
        elif one.get(name) != other.get(name):
            return False
    return True


def _module_header(record: Module) -> tuple[object, ...]:
    return (record.package, record.stars, record.exports, record.lazy, record.problem)


def _class_header(record: Class) -> tuple[object, ...]:
    return (record.bases, record.kind, record.decorators, record.condition)
