"""A release looked at with a record of what was looked at.

:class:`Lens` answers as :class:`~sglang_contracts.surface.Surface` does and remembers, for each
answer, on which definitions it stands. In the next release only answers are worked out again that
stand on a definition that changed: a check over all releases costs little more than one over a
single release.

The ground that answers stand on, by its keys (see :mod:`~sglang_contracts.verify.answers.memory`):
``module``, for whether it is there, what it exports and what it stars; ``(module, name)``, for a
definition or a member (see :mod:`~sglang_contracts.surface.changes`); ``("fact", frame, name)``,
for what is looked up over a whole release (calls, places, flags); ``"release"``, for its number.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from typing import Any, TypeVar

import msgspec

from sglang_contracts.surface.catalog import Catalog
from sglang_contracts.surface.frames import shard
from sglang_contracts.surface.model import Call, Flag, Module
from sglang_contracts.surface.surface import Surface
from sglang_contracts.surface.symbol import Symbol
from sglang_contracts.verify.answers.memory import Key, Memory
from sglang_contracts.verify.answers.tracked import TrackedModule

T = TypeVar("T")
_MODULE = "m:"
_FLAGS, _ENVIRONMENT, _REGISTRATIONS = "flags", "environment", "registrations"


class Lens(Surface):
    """One release at a time, all of them in a row; see :meth:`move`."""

    def __init__(self, catalog: Catalog, release: str) -> None:
        super().__init__(catalog, release)
        self.catalog: Catalog = catalog
        self.memory = Memory()
        self.touch = self.memory.touch
        self.track = self.memory.track
        self.once = self.memory.once
        self._modules: dict[str, TrackedModule] = {}
        self._folders: dict[str, bool] = {}
        """Names asked for that are no modules: whether there is a folder of modules."""
        self._facts: defaultdict[str, dict[str, object]] = defaultdict(dict)
        """By frame: what was looked up in it."""
        self._frames: set[str] = set()
        """Names of the frames that were looked at."""

    def move(self, release: str) -> frozenset[Key]:
        """Look at another release.

        Returns:
            Keys of what was looked at so far and is not what it was, and of the answers that stood
            on it.
        """
        if release == self.release:
            return frozenset()
        differing = self.catalog.difference(self.release, release, self._frames)
        self.release = release
        if _FLAGS in differing:
            self.__dict__.pop("_flags", None)
        self.__dict__.pop("_names", None)
        self._ordered = None
        self._by_receiver = None
        self._tops.clear()
        self._mros.clear()
        self._types.clear()
        moved: set[Key] = {"release"}
        for frame, names in differing.items():
            if frame.startswith(_MODULE):
                moved |= self._moved_module(frame[len(_MODULE) :], names)
            else:
                moved |= self._moved_facts(frame, names)
        for name, was in self._folders.items():
            now = self._folders[name] = self.is_package(name)
            if now != was:
                moved.add(name)
        changed = self.memory.forget(moved)
        for key in changed:
            if isinstance(key, tuple) and key[0] == "mro":
                self._externals.pop((key[1], key[2]), None)
        return changed

    def _moved_module(self, name: str, differing: Collection[str] | None) -> set[Key]:
        tracked = self._modules.get(name)
        if tracked is None:  # it was a folder, or nothing, and is a module
            self._folders.pop(name, None)
            return {name}
        if differing is None:
            del self._modules[name]
            self._frames.discard(_MODULE + name)
        return tracked.move(differing)

    def _moved_facts(self, frame: str, differing: Iterable[str] | None) -> set[Key]:
        held = self._facts[frame]
        names = list(held) if differing is None else [name for name in differing if name in held]
        for name in names:
            del held[name]
        return {("fact", frame, name) for name in names}

    # -- what a Surface answers, tracked -----------------------------------------------------------

    def module(self, name: str) -> Module | None:
        """As :class:`Surface` answers, tracked."""
        self.touch(name)
        found = self._modules.get(name)
        if found is not None:
            return found.view
        if name in self._folders:
            return None
        self._frames.add(_MODULE + name)
        if self.record_id(name) is None:
            self._folders[name] = self.is_package(name)
            return None
        found = self._modules[name] = TrackedModule(name, self.touch, super().module)
        return found.view

    def has_module(self, name: str) -> bool:
        """As :class:`Surface` answers, tracked."""
        return self.module(name) is not None or self._folders[name]

    def _fact(self, frame: str, name: str) -> Any:
        self.touch(("fact", frame, name))
        held = self._facts[frame]
        if name not in held:
            self._frames.add(frame)
            held[name] = self._look_up(frame, name)
        return held[name]

    def _look_up(self, frame: str, name: str) -> object:
        if frame == _FLAGS:
            return super()._flag(name)
        if frame == _ENVIRONMENT:
            return super().variable(name)
        if frame == _REGISTRATIONS:
            return super().registrations(name)
        return self.catalog.fact(self.release, frame, name)

    def _raw(self, kind: str, name: str, key: str) -> msgspec.Raw | None:
        return self._fact(f"{kind}:{shard(name)}", key)  # type: ignore[no-any-return]

    def _flag(self, name: str) -> tuple[str, Flag] | None:
        return self._fact(_FLAGS, name)  # type: ignore[no-any-return]

    def variable(self, name: str) -> str | None:
        """As :class:`Surface` answers, tracked."""
        return self._fact(_ENVIRONMENT, name)  # type: ignore[no-any-return]

    def registrations(self, function: str) -> dict[str, tuple[str, ...]]:
        """As :class:`Surface` answers, tracked."""
        return self._fact(_REGISTRATIONS, function)  # type: ignore[no-any-return]

    def callers(self, name: str) -> list[tuple[str, Call]]:
        """As :class:`Surface` answers, tracked."""
        return self.once(("callers", name), lambda: super(Lens, self).callers(name))

    def places(self, name: str) -> tuple[str, ...]:
        """As :class:`Surface` answers, tracked."""
        return self.once(("places", name), lambda: super(Lens, self).places(name))

    def imported(self, module: str) -> frozenset[str]:
        """Names of the modules that a module imports, or imports from; none where there is none."""

        def work() -> frozenset[str]:
            return frozenset() if self.module(module) is None else self._modules[module].imported()

        return self.once(("imported", module), work)

    def ancestry(self, place: str) -> tuple[str, ...]:
        """Names of the class at one of :meth:`places` and of its bases; () where there is none."""

        def work() -> tuple[str, ...]:
            module, _, qual = place.partition(":")
            found = self.find(module, qual) if qual else None
            if found is None or found.kind != "class":
                return ()
            return tuple(each.name for each in self.mro(found))

        return self.once(("ancestry", place), work)

    def definers(self, name: str) -> tuple[tuple[str, ...], ...]:
        """Each class that defines a member of that name: its :meth:`ancestry`."""

        def work() -> tuple[tuple[str, ...], ...]:
            return tuple(filter(None, map(self.ancestry, self.places(name))))

        return self.once(("definers", name), work)

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
        if not seen or self.memory.has(key):
            return self.once(key, lambda: super(Lens, self)._top(module, name, seen))
        # inside a cycle of stars an answer may be partial: it is not kept
        self._tops.pop((module, name), None)
        return super()._top(module, name, seen)

    def mro(self, owner: Symbol) -> tuple[Symbol, ...]:
        """As :class:`Surface` answers, tracked."""
        return self.once(("mro", owner.module, owner.qual), lambda: super(Lens, self).mro(owner))

    def annotation_type(self, module: str, text: str) -> tuple[Symbol, ...]:
        """As :class:`Surface` answers, tracked."""
        if not text:
            return ()
        return self.once(
            ("type", module, text), lambda: super(Lens, self).annotation_type(module, text)
        )
