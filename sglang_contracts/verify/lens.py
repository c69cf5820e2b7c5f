"""A release looked at with a record of what was looked at.

:class:`Lens` answers as :class:`~sglang_contracts.surface.Surface` does and remembers, for each
answer, on which definitions it stands. In the next release only answers are worked out again that
stand on a definition that changed: a check over all releases costs little more than one over a
single release.

The ground that answers stand on, by its keys (see :mod:`~sglang_contracts.verify.memory`):
``module``, for whether it is there, what it exports and what it stars; ``(module, name)`` and
``(module, class, member)``, for a definition (``*``: for the names of all); ``("fact", …)``, for
what is looked up over a whole release (calls, places, flags); ``"release"``, for its number.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any, TypeVar

import msgspec

from sglang_contracts.surface.catalog import SHARD, Catalog, Surface
from sglang_contracts.surface.frames import shard
from sglang_contracts.surface.model import Call, Flag, Module
from sglang_contracts.surface.resolve import Symbol
from sglang_contracts.verify.memory import Key, Memory
from sglang_contracts.verify.tracked import TrackedModule

T = TypeVar("T")
_NEVER = object()
_FLAGS, _ENVIRONMENT, _REGISTRATIONS = "flags", "environment", "registrations"


class Lens(Surface):
    """One release at a time, all of them in a row; see :meth:`move`."""

    def __init__(self, catalog: Catalog, release: str) -> None:
        super().__init__(catalog, release)
        self.memory = Memory()
        self.touch = self.memory.touch
        self.track = self.memory.track
        self.once = self.memory.once
        self._modules: dict[str, TrackedModule] = {}
        self._folders: dict[str, bool] = {}
        """Names asked for that are no modules: whether there is a folder of modules."""
        self._facts: defaultdict[str, dict[tuple[str, ...], object]] = defaultdict(dict)
        """By frame: what was looked up in it."""

    def move(self, release: str) -> frozenset[Key]:
        """Look at another release.

        Returns:
            Keys of what was looked at so far and is not what it was, and of the answers that stood
            on it.
        """
        if release == self.release:
            return frozenset()
        before, self.release = self.release, release
        frames = self.catalog.difference(before, release)
        if frames is None or _FLAGS in frames:
            self.__dict__.pop("_flags", None)
        self.__dict__.pop("_names", None)
        self._ordered = None
        self._by_receiver = None
        self._tops.clear()
        self._mros.clear()
        self._types.clear()
        changed = self.memory.forget(
            {"release", *self._moved_modules(before, frames), *self._moved_facts(frames)}
        )
        for key in changed:
            if isinstance(key, tuple) and key[0] == "mro":
                self._externals.pop((key[1], key[2]), None)
        return changed

    def _moved_modules(self, before: str, frames: frozenset[str] | None) -> set[Key]:
        moved: set[Key] = set()
        for name in self._changed_among([*self._modules, *self._folders], before, frames):
            record = super().module(name)
            tracked = self._modules.get(name)
            if tracked is None:
                if record is not None:
                    del self._folders[name]
                    moved.add(name)
            elif record is not None:
                moved |= tracked.move(record)
            else:
                moved |= self._modules.pop(name).everything()
        for name, was in self._folders.items():
            now = self._folders[name] = self.is_package(name)
            if now != was:
                moved.add(name)
        return moved

    def _changed_among(
        self, names: Iterable[str], before: str, frames: frozenset[str] | None
    ) -> list[str]:
        if frames is not None:
            return [name for name in names if f"m:{name}" in frames]
        locate, release = self.catalog.locate, self.release
        return [n for n in names if locate(before, f"m:{n}") != locate(release, f"m:{n}")]

    def _moved_facts(self, frames: frozenset[str] | None) -> set[Key]:
        moved: set[Key] = set()
        for frame, held in self._facts.items():
            if frames is not None and frame not in frames:
                continue
            for key, was in held.items():
                now = held[key] = self._look_up(frame, key[-1])
                if now != was:
                    moved.add(key)
        return moved

    # -- what a Surface answers, tracked -----------------------------------------------------------

    def module(self, name: str) -> Module | None:
        """As :class:`Surface` answers, tracked."""
        self.touch(name)
        found = self._modules.get(name)
        if found is not None:
            return found.view
        if name in self._folders:
            return None
        record = super().module(name)
        if record is None:
            self._folders[name] = self.is_package(name)
            return None
        found = self._modules[name] = TrackedModule(self.memory, name, record)
        return found.view

    def has_module(self, name: str) -> bool:
        """As :class:`Surface` answers, tracked."""
        return self.module(name) is not None or self._folders[name]

    def _fact(self, frame: str, name: str) -> Any:
        key = ("fact", frame, name)
        self.touch(key)
        held = self._facts[frame]
        if key not in held:
            held[key] = self._look_up(frame, name)
        return held[key]

    def _look_up(self, frame: str, name: str) -> object:
        if frame == _FLAGS:
            return super()._flag(name)
        if frame == _ENVIRONMENT:
            return super().variable(name)
        if frame == _REGISTRATIONS:
            return super().registrations(name)
        return self._frame(frame, SHARD).get(name)

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
