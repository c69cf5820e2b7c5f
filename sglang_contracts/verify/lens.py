"""A release looked at with a record of what was looked at.

:class:`Lens` answers as :class:`~sglang_contracts.surface.Surface` does and remembers, for each
answer, the modules it stands on. In the next release only answers that stand on a module that
changed are worked out again: a check over all releases costs little more than one over a single
release.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from sglang_contracts.surface.catalog import Catalog, Surface
from sglang_contracts.surface.frames import shard
from sglang_contracts.surface.model import Call, Module
from sglang_contracts.surface.resolve import Symbol

T = TypeVar("T")
Key = tuple[Any, ...]
_NOTHING: frozenset[str] = frozenset()
_NEVER = object()


class Dependents:
    """Which numbered answers stand on what."""

    def __init__(self) -> None:
        self._on: dict[str, set[int]] = {}

    def note(self, number: int, names: Iterable[str]) -> None:
        """An answer stands on these."""
        for name in names:
            self._on.setdefault(name, set()).add(number)

    def take(self, names: Iterable[str]) -> set[int]:
        """The answers that stand on any of these; they are to be worked out, and noted, again."""
        found: set[int] = set()
        for name in names:
            found |= self._on.pop(name, set())
        return found


class Lens(Surface):
    """One release at a time, all of them in a row; see :meth:`move`."""

    def __init__(self, catalog: Catalog, release: str) -> None:
        super().__init__(catalog, release)
        self.frames: list[set[str]] = []
        """What the answers being worked out stand on, innermost last."""
        self._answers: dict[Key, Any] = {}
        self._deps: dict[Key, frozenset[str]] = {}
        self._sets: dict[frozenset[str], frozenset[str]] = {}
        self._by_module: dict[str, set[Key]] = {}
        self._seen: dict[str, object] = {}
        self._modules: dict[str, Module | None] = {}
        self._indexed: dict[str, Any] = {}
        """What indices over all modules say of a name: ``calls:name``, ``places:name``."""

    # -- tracking ----------------------------------------------------------------------------------

    def touch(self, name: str) -> None:
        """The answer being worked out stands on this module (or index)."""
        if self.frames:
            self.frames[-1].add(name)

    def track(self, work: Callable[[], T]) -> tuple[T, frozenset[str]]:
        """An answer, and the modules it stands on."""
        self.frames.append(set())
        try:
            answer = work()
        finally:
            found = self.intern(self.frames.pop())
        if self.frames:
            self.frames[-1] |= found
        return answer, found

    def intern(self, names: Iterable[str]) -> frozenset[str]:
        """One object for equal sets: many answers stand on the same modules."""
        found = frozenset(names)
        return self._sets.setdefault(found, found)

    def once(self, key: Key, work: Callable[[], T]) -> T:
        """An answer, worked out again only after a module it stands on has changed."""
        held = self._answers.get(key, _NEVER)
        if held is not _NEVER:
            if self.frames:
                self.frames[-1] |= self._deps[key]
            return held  # type: ignore[no-any-return]
        answer, names = self.track(work)
        self._answers[key] = answer
        self._deps[key] = names
        for name in names:
            self._by_module.setdefault(name, set()).add(key)
        return answer

    def move(self, release: str) -> frozenset[str]:
        """Look at another release.

        Returns:
            Names of the modules looked at so far that are not what they were.
        """
        if release == self.release:
            return _NOTHING
        self.release = release
        for cached in ("_names", "_flags"):
            self.__dict__.pop(cached, None)
        self._ordered = None
        self._by_receiver = None
        self._tops.clear()
        self._mros.clear()
        self._types.clear()
        changed = set()
        for name, was in self._seen.items():
            now = self._state(name)
            if now != was:
                changed.add(name)
                self._seen[name] = now
        # names of one shard together: it is decoded once
        for index in sorted(self._indexed, key=lambda each: shard(each.partition(":")[2])):
            found = self._look_up(index)
            if found != self._indexed[index]:
                changed.add(index)
                self._indexed[index] = found
        for name in changed:
            self._modules.pop(name, None)
            for key in self._by_module.pop(name, ()):
                self._answers.pop(key, None)
                self._deps.pop(key, None)
                if key[0] == "mro":
                    self._externals.pop((key[1], key[2]), None)
        return frozenset(changed)

    def _state(self, name: str) -> object:
        """What a module is in this release: its record, or whether a folder of modules is there."""
        record = self.catalog.locate(self.release, f"m:{name}")
        return record if record is not None else self.is_package(name)

    # -- what a Surface answers, tracked -----------------------------------------------------------

    def module(self, name: str) -> Module | None:
        """As :class:`Surface` answers, tracked."""
        if self.frames:
            self.frames[-1].add(name)
        if name in self._modules:
            return self._modules[name]
        if name not in self._seen:
            self._seen[name] = self._state(name)
        found = self._modules[name] = super().module(name)
        return found

    def has_module(self, name: str) -> bool:
        """As :class:`Surface` answers, tracked."""
        if self.frames:
            self.frames[-1].add(name)
        state = self._seen.get(name, _NEVER)
        if state is _NEVER:
            state = self._seen[name] = self._state(name)
        return bool(state)

    def _look_up(self, key: str) -> Any:
        kind, _, name = key.partition(":")
        return super().callers(name) if kind == "calls" else super().places(name)

    def _index(self, key: str) -> Any:
        self.touch(key)
        found = self._indexed.get(key, _NEVER)
        if found is _NEVER:
            found = self._indexed[key] = self._look_up(key)
        return found

    def callers(self, name: str) -> list[tuple[str, Call]]:
        """As :class:`Surface` answers, tracked."""
        return self._index(f"calls:{name}")  # type: ignore[no-any-return]

    def places(self, name: str) -> tuple[str, ...]:
        """As :class:`Surface` answers, tracked."""
        return self._index(f"places:{name}")  # type: ignore[no-any-return]

    def find(self, module: str, dotted: str = "") -> Symbol | None:
        """As :class:`Surface` answers, tracked."""
        if dotted and "." not in dotted:
            own = self.own(module, dotted)  # quicker than to remember it
            if own is not None:
                return own
        return self.once(("find", module, dotted), lambda: super(Lens, self).find(module, dotted))

    def parse(self, name: str) -> Symbol | None:
        """As :class:`Surface` answers, tracked."""
        module, colon, qual = name.partition(":")
        if colon:
            return self.find(module, qual)
        return self.once(("parse", name), lambda: super(Lens, self).parse(name))

    def member(self, owner: Symbol, name: str) -> Symbol | None:
        """As :class:`Surface` answers, tracked."""
        return self.once(
            ("member", owner.module, owner.qual, name),
            lambda: super(Lens, self).member(owner, name),
        )

    def _top(self, module: str, name: str, seen: frozenset[tuple[str, str]]) -> Symbol | None:
        own = self.own(module, name)
        if own is not None:
            return own
        key = ("top", module, name)
        if key in self._answers or not seen:
            return self.once(key, lambda: super(Lens, self)._top(module, name, seen))
        # inside a cycle of stars an answer may be partial: it is not kept
        self._tops.pop((module, name), None)
        return super()._top(module, name, seen)

    def mro(self, owner: Symbol) -> tuple[Symbol, ...]:
        """As :class:`Surface` answers, tracked."""

        def work() -> tuple[Symbol, ...]:
            self.touch(owner.module)  # the class came with its node: it was looked at before
            return super(Lens, self).mro(owner)

        return self.once(("mro", owner.module, owner.qual), work)

    def annotation_type(self, module: str, text: str) -> tuple[Symbol, ...]:
        """As :class:`Surface` answers, tracked."""
        if not text:
            return ()
        return self.once(
            ("type", module, text), lambda: super(Lens, self).annotation_type(module, text)
        )
