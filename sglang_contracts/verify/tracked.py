"""Modules and classes that tell which of their definitions are looked at.

To whoever reads them they are records like all others. A view stays good from release to release:
it shows the release at hand, and who looked at a definition is told when that has changed. Names
are those of :mod:`~sglang_contracts.surface.changes`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Generic, TypeVar, overload

from sglang_contracts.surface.changes import HEADER, NAMES
from sglang_contracts.surface.model import Class, Module
from sglang_contracts.verify.memory import Key

T = TypeVar("T")
D = TypeVar("D")
Look = Callable[[str], None]


class View(Mapping[str, T], Generic[T]):
    """Definitions of one sort of a module or a class of the release at hand.

    Args:
        look: Is told the names that are looked at.
        within: What stands before them: the class and a dot.
        current: The definitions in the release at hand.
    """

    __slots__ = ("_current", "_look", "_within")

    def __init__(self, look: Look, within: str, current: Callable[[], Mapping[str, T]]) -> None:
        self._look = look
        self._within = within
        self._current = current

    def __getitem__(self, name: str) -> T:
        self._look(self._within + name)
        return self._current()[name]

    @overload
    def get(self, name: str, /) -> T | None: ...
    @overload
    def get(self, name: str, /, default: T | D) -> T | D: ...
    def get(self, name: str, /, default: D | None = None) -> T | D | None:
        """The definition of that name; ``default`` where there is none."""
        self._look(self._within + name)
        return self._current().get(name, default)

    def __contains__(self, name: object) -> bool:
        self._look(self._within + str(name))
        return name in self._current()

    def __iter__(self) -> Iterator[str]:
        self._look(self._within + NAMES)
        return iter(self._current())

    def __len__(self) -> int:
        self._look(self._within + NAMES)
        return len(self._current())


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
        self._classes: dict[str, Class] = {}
        self._view: Module | None = None

    @property
    def view(self) -> Module:
        """The module, to be read as a record."""
        if self._view is None:
            record = self._current()
            self._view = Module(
                record.package,
                View(self._look, "", lambda: _Classes(self._class, self._current().classes)),
                View(self._look, "", lambda: self._current().functions),
                View(self._look, "", lambda: self._current().values),
                View(self._look, "", lambda: self._current().imports),
                record.stars,
                record.exports,
                record.lazy,
                record.problem,
            )
        return self._view

    def move(self, differing: Iterable[str] | None) -> set[Key]:
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
        for name in differing:
            if name == HEADER:
                self._view = None
                moved.add(self._name)
            elif self._classes.pop(name, None) is not None:
                # Also what is no member of it any more, or was none.
                inside = f"{name}."
                moved |= {(self._name, n) for n in self._looked_at if n.startswith(inside)}
        return moved

    def _look(self, name: str) -> None:
        self._looked_at.add(name)
        self._touch((self._name, name))

    def _current(self) -> Module:
        if self._record is None:
            self._record = self._load(self._name) or Module()
        return self._record

    def _class(self, name: str) -> Class:
        found = self._classes.get(name)
        if found is None:
            record = self._current().classes[name]

            def now() -> Class:
                return self._current().classes.get(name) or Class()

            found = self._classes[name] = Class(
                record.bases,
                record.kind,
                View(self._look, f"{name}.", lambda: now().attributes),
                View(self._look, f"{name}.", lambda: now().methods),
                View(self._look, f"{name}.", lambda: now().classes),
                record.decorators,
                record.condition,
            )
        return found


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
