"""Answers, and what each stands on: what moves is forgotten, with all that stands on it.

Keys are of two kinds. *Ground* is what a release is made of (a module, a definition in it, a flag:
see :class:`~sglang_contracts.verify.lens.Lens`); *answers* are what was worked out. An answer is
noted under what it asked for itself, ground or other answers, not under all that lies below: the
sets stay small, and what lies below is found by following them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable
from typing import Any, Generic, TypeVar

T = TypeVar("T")
A = TypeVar("A", bound=Hashable)
Key = Hashable
_NEVER = object()


class Dependents(Generic[A]):
    """Which answers stand on what."""

    def __init__(self) -> None:
        self._on: dict[Key, set[A]] = {}

    def note(self, answer: A, names: Iterable[Key]) -> None:
        """An answer stands on these."""
        on = self._on
        for name in names:
            held = on.get(name)
            if held is None:
                on[name] = {answer}
            else:
                held.add(answer)

    def take(self, names: Iterable[Key]) -> set[A]:
        """The answers that stand on any of these; they are to be worked out, and noted, again."""
        found: set[A] = set()
        for name in names:
            found |= self._on.pop(name, set())
        return found


class Memory:
    """Answers of one release after the other."""

    def __init__(self) -> None:
        self._asking: list[set[Key]] = []
        self._answers: dict[Key, Any] = {}
        self._dependents: Dependents[Key] = Dependents()

    def touch(self, key: Key) -> None:
        """The answer being worked out, if one is, stands on this."""
        if self._asking:
            self._asking[-1].add(key)

    def stand_on(self, names: Iterable[Key]) -> None:
        """The answer being worked out, if one is, stands on all of these."""
        if self._asking:
            self._asking[-1].update(names)

    def track(self, work: Callable[[], T]) -> tuple[T, Collection[Key]]:
        """An answer, and what it stands on; who asks does not stand on it by that."""
        self._asking.append(set())
        try:
            answer = work()
        finally:
            names = self._asking.pop()
        return answer, names

    def once(self, key: Key, work: Callable[[], T]) -> T:
        """An answer, worked out again only after something it stands on has changed."""
        held = self._answers.get(key, _NEVER)
        if held is _NEVER:
            held, names = self.track(work)
            self.keep(key, held, names)
        if self._asking:
            self._asking[-1].add(key)
        return held  # type: ignore[no-any-return]

    def has(self, key: Key) -> bool:
        """Whether there is an answer."""
        return key in self._answers

    def held(self, key: Key) -> Any:
        """The answer, which who asks stands on now; None where there is none."""
        found = self._answers.get(key)
        if found is not None and self._asking:
            self._asking[-1].add(key)
        return found

    def keep(self, key: Key, answer: object, names: Iterable[Key]) -> None:
        """Remember an answer that was tracked."""
        self._answers[key] = answer
        self._dependents.note(key, names)

    def forget(self, names: Iterable[Key]) -> frozenset[Key]:
        """Forget every answer that stands on any of these, or on an answer that does.

        Returns:
            The names and the forgotten answers' keys.
        """
        changed = set(names)
        edge: Iterable[Key] = changed
        while edge:
            edge = self._dependents.take(edge) - changed
            changed |= edge
        for key in changed:
            self._answers.pop(key, None)
        return frozenset(changed)
