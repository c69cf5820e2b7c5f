"""A release looked at with a record of what was looked at.

:class:`Lens` answers as :class:`~sglang_contracts.surface.Surface` does and remembers, for each
answer, the modules it stands on. In the next release only answers that stand on a module that
changed are worked out again: a check over all releases costs little more than one over a single
release.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from sglang_contracts.surface.catalog import Catalog, Surface
from sglang_contracts.surface.model import Module
from sglang_contracts.surface.resolve import Symbol

T = TypeVar("T")
_NOTHING: frozenset[str] = frozenset()


class Lens(Surface):
    """One release at a time, all of them in a row; see :meth:`move`."""

    def __init__(self, catalog: Catalog, release: str) -> None:
        super().__init__(catalog, release)
        self._frames: list[set[str]] = []
        self._deps: dict[tuple[object, ...], frozenset[str]] = {}
        self._seen: dict[str, object] = {}
        self._by_module: dict[str, set[tuple[object, ...]]] = {}

    # -- tracking ----------------------------------------------------------------------------------

    def touch(self, name: str) -> None:
        """The answer being worked out stands on this module (or index)."""
        if self._frames:
            self._frames[-1].add(name)

    def track(self, work: Callable[[], T]) -> tuple[T, frozenset[str]]:
        """An answer, and the modules it stands on."""
        self._frames.append(set())
        try:
            answer = work()
        finally:
            found = frozenset(self._frames.pop())
        if self._frames:
            self._frames[-1] |= found
        return answer, found

    def _keep(self, key: tuple[object, ...], names: Iterable[str]) -> None:
        found = frozenset(names)
        self._deps[key] = found
        for name in found:
            self._by_module.setdefault(name, set()).add(key)

    def _again(self, key: tuple[object, ...]) -> None:
        if self._frames:
            self._frames[-1] |= self._deps.get(key, _NOTHING)

    def move(self, release: str) -> frozenset[str]:
        """Look at another release.

        Returns:
            Names of the modules looked at so far that are not what they were.
        """
        if release == self.release:
            return _NOTHING
        old = self._seen
        self.release = release
        for cached in ("_names", "_flags"):
            self.__dict__.pop(cached, None)
        self._packages = None
        self._by_receiver = None
        changed = set()
        for name, was in old.items():
            now = self._state(name)
            if now != was:
                changed.add(name)
                old[name] = now
        stale: set[tuple[object, ...]] = set()
        for name in changed:
            stale |= self._by_module.pop(name, set())
        for key in stale:
            self._deps.pop(key, None)
            table = {"top": self._tops, "mro": self._mros, "type": self._types}[str(key[0])]
            table.pop(key[1], None)  # type: ignore[call-overload]
            if key[0] == "mro":
                self._externals.pop(key[1], None)  # type: ignore[call-overload]
        return frozenset(changed)

    def _state(self, name: str) -> object:
        """What a module is in this release: its record, or whether a folder of modules is there."""
        if name.startswith("calls:"):
            return tuple(sorted(super().callers(name[6:]), key=repr))
        if name.startswith("places:"):
            return super().places(name[7:])
        return self._plain_state(name)

    # -- what a Surface answers, tracked -------------------------------------------------------------

    def module(self, name: str) -> Module | None:
        if self._frames:
            self._frames[-1].add(name)
        if name not in self._seen:
            self._seen[name] = self._plain_state(name)
        record = self.catalog.locate(self.release, f"m:{name}")
        if record is None:
            return None
        from sglang_contracts.surface.catalog import _MODULE

        return self.catalog.decoded(record, _MODULE)  # type: ignore[return-value]

    def _plain_state(self, name: str) -> object:
        record = self.catalog.locate(self.release, f"m:{name}")
        if record is not None:
            return record
        if self._packages is None:
            self._packages = frozenset(
                each[:end]
                for each in self.module_names()
                for end in (i for i, letter in enumerate(each) if letter == ".")
            )
        return name in self._packages

    def has_module(self, name: str) -> bool:
        if self._frames:
            self._frames[-1].add(name)
        state = self._seen.get(name)
        if state is None:
            state = self._seen[name] = self._plain_state(name)
        return bool(state)

    def callers(self, name: str):  # type: ignore[no-untyped-def]
        key = f"calls:{name}"
        found = super().callers(name)
        self.touch(key)
        if key not in self._seen:
            self._seen[key] = tuple(sorted(found, key=repr))
        return found

    def places(self, name: str) -> tuple[str, ...]:
        key = f"places:{name}"
        found = super().places(name)
        self.touch(key)
        self._seen.setdefault(key, found)
        return found

    def _top(self, module: str, name: str, seen: frozenset[tuple[str, str]]) -> Symbol | None:
        table_key = (module, name)
        key = ("top", table_key)
        if table_key in self._tops and key in self._deps:
            self._again(key)
            return self._tops[table_key]
        found, names = self.track(lambda: super(Lens, self)._top(module, name, seen))
        if table_key in self._tops:
            self._keep(key, names)
        return found

    def mro(self, owner: Symbol) -> tuple[Symbol, ...]:
        table_key = (owner.module, owner.qual)
        key = ("mro", table_key)
        if table_key in self._mros and key in self._deps:
            self._again(key)
            return self._mros[table_key]
        self.touch(owner.module)
        found, names = self.track(lambda: super(Lens, self).mro(owner))
        self._keep(key, names | {owner.module})
        return found

    def annotation_type(self, module: str, text: str) -> tuple[Symbol, ...]:
        if not text:
            return ()
        table_key = (module, text)
        key = ("type", table_key)
        if table_key in self._types and key in self._deps:
            self._again(key)
            return self._types[table_key]
        found, names = self.track(lambda: super(Lens, self).annotation_type(module, text))
        self._keep(key, names)
        return found
