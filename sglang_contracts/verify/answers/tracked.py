"""Modules and classes that tell which of their definitions are looked at.

To whoever reads them they are records like all others. A view stays good from release to release:
it shows the release at hand, and who looked at a definition is told when that has changed. Names
are those of :mod:`~sglang_contracts.surface.changes`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, Generic, TypeVar, overload

from sglang_contracts.surface.changes import HEADER, NAMES
from sglang_contracts.surface.model import Class, Module
from sglang_contracts.verify.answers.memory import Key

IMPORTS = "import *"
"""All imports of a module; no definition goes by that name."""
T = TypeVar("T")
D = TypeVar("D")


class View(Mapping[str, T], Generic[T]):
    """Definitions of one sort of a module, or members of a class, of the release at hand.

    Args:
        module: Where they are.
        sort: Which ones: the name of their table in the record.
        owner: The class; empty: the module's own.
    """

    __slots__ = ("_inside", "_module", "_of", "_owner", "_sort", "_table")

    def __init__(self, module: TrackedModule, sort: str, owner: str = "") -> None:
        self._module = module
        self._sort = sort
        self._owner = owner
        self._inside = f"{owner}." if owner else ""
        self._table: Mapping[str, T] = {}
        self._of: Module | None = None
        """The record that the table was last taken from."""

    def __getitem__(self, name: str) -> T:
        self._module.look(self._inside + name)
        return self._current()[name]

    @overload
    def get(self, name: str, /) -> T | None: ...
    @overload
    def get(self, name: str, /, default: T | D) -> T | D: ...
    def get(self, name: str, /, default: D | None = None) -> T | D | None:
        """The definition of that name; ``default`` where there is none."""
        self._module.look(self._inside + name)
        return self._current().get(name, default)

    def __contains__(self, name: object) -> bool:
        self._module.look(self._inside + str(name))
        return name in self._current()

    def __iter__(self) -> Iterator[str]:
        self._module.look(self._inside + NAMES)
        return iter(self._current())

    def __len__(self) -> int:
        self._module.look(self._inside + NAMES)
        return len(self._current())

    def _current(self) -> Mapping[str, T]:
        current = self._module.current
        if current is not self._of:
            record: Module | Class | None = current
            if self._owner:
                record = current.classes.get(self._owner)
            # A view of a class that is gone shows nothing.
            self._table = getattr(record, self._sort) if record is not None else {}
            self._of = current
        return self._table


class _Classes(View[Class]):
    """A module's classes, each of views."""

    __slots__ = ()

    def __getitem__(self, name: str) -> Class:
        self._module.look(name)
        return self._module.klass(name)

    def get(self, name: str, /, default: Any = None) -> Any:
        """The class of that name, of views; ``default`` where there is none."""
        self._module.look(name)
        return self._module.klass(name) if name in self._current() else default


class TrackedModule:
    """A module in one release after the other.

    Args:
        name: The module's.
        touch: Is told the keys of what is looked at: ``(module, name)``.
        load: Its record in the release at hand.
    """

    def __init__(
        self, name: str, touch: Callable[[Key], None], load: Callable[[str], Module | None]
    ) -> None:
        self._name = name
        self._touch = touch
        self._load = load
        self._record: Module | None = None
        self._looked_at: set[str] = set()
        self._imported: frozenset[str] = frozenset()
        """Names bound by imports, when they were looked at all together."""
        self._classes: dict[str, Class] = {}
        self._view: Module | None = None

    @property
    def view(self) -> Module:
        """The module, to be read as a record."""
        if self._view is None:
            record = self.current
            self._view = Module(
                record.package,
                _Classes(self, "classes"),
                View(self, "functions"),
                View(self, "values"),
                View(self, "imports"),
                record.stars,
                record.exports,
                record.lazy,
                record.problem,
            )
        return self._view

    @property
    def current(self) -> Module:
        """Its record in the release at hand; looking at that is not told."""
        if self._record is None:
            self._record = self._load(self._name) or Module()
        return self._record

    def move(self, differing: Collection[str] | None) -> set[Key]:
        """Go on to another release.

        Args:
            differing: Names that differ there; None: it has no such module.

        Returns:
            Keys of those that were looked at.
        """
        self._record = None
        if differing is None:
            return {self._name, *((self._name, name) for name in self._looked_at)}
        moved: set[Key] = {(self._name, name) for name in differing if name in self._looked_at}
        # A name that comes, or goes, is one more name.
        if NAMES in differing or not self._imported.isdisjoint(differing):
            moved.add((self._name, IMPORTS))
        for name in differing:
            if name == HEADER:
                self._view = None
                moved.add(self._name)
            elif self._classes.pop(name, None) is not None:
                # Also what is no member of it any more, or was none.
                inside = f"{name}."
                moved |= {(self._name, n) for n in self._looked_at if n.startswith(inside)}
        return moved

    def imported(self) -> frozenset[str]:
        """Names of the modules that it imports, or imports from: looked at all together."""
        imports = self.current.imports
        self._imported = frozenset(imports)
        self.look(IMPORTS)
        return frozenset(each.module for each in imports.values())

    def look(self, name: str) -> None:
        """Tell that a name is looked at."""
        self._looked_at.add(name)
        self._touch((self._name, name))

    def klass(self, name: str) -> Class:
        """A class of the module, to be read as a record."""
        found = self._classes.get(name)
        if found is None:
            record = self.current.classes[name]
            found = self._classes[name] = Class(
                record.bases,
                record.kind,
                View(self, "attributes", name),
                View(self, "methods", name),
                View(self, "classes", name),
                record.decorators,
                record.condition,
            )
        return found
