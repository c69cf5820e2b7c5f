"""Answers, and what each stands on: what moves is forgotten, with all that stands on it.

Keys are of two kinds. *Ground* is what a release is made of (a module, a definition in it, a flag:
see :class:`~sglang_contracts.verify.answers.lens.Lens`); *answers* are what was worked out. An
answer is noted under what it asked for itself, ground or other answers, not under all that lies
below: the sets stay small, and what lies below is found by following them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable
from typing import Any, Generic, TypeVar

T = TypeVar("T")
A = TypeVar("A", bound=Hashable)
Key = Hashable
_NEVER = object()
_ALL = 1 << 30
"""A place below all others."""


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


class Underway:
    """Answers being worked out, one for the sake of the other.

    A question that is already being answered further up cannot be answered below it, and one too
    far down is not gone into: what is said there instead may be otherwise for who asks it alone.
    Such an answer holds for a while: until the one that cut it short is given. (Without that,
    functions that all return each other's results would be followed along every way there is.)
    """

    def __init__(self) -> None:
        self._places: dict[Key, int] = {}
        self._reach = _ALL
        """The highest place that something below the answer at hand was cut short by."""
        self._meanwhile: dict[Key, tuple[int, Collection[Key]]] = {}
        """Questions that were cut short: by which place, and what was looked at."""
        self._until: dict[int, list[Key]] = {}
        """Place → the questions it cut short."""

    def __len__(self) -> int:
        return len(self._places)

    def cut(self, key: Key, deepest: int) -> bool:
        """Whether a question is not to be gone into; who asks it then has no whole answer."""
        place = self._places.get(key)
        if place is None and len(self._places) <= deepest:
            return False
        self.cut_at(place or 0)
        return True

    def meanwhile(self, key: Key) -> Collection[Key] | None:
        """What a question looked at that was cut short and still would be; None for others."""
        held = self._meanwhile.get(key)
        if held is None:
            return None
        self.cut_at(held[0])
        return held[1]

    def cut_at(self, place: int) -> None:
        """What is below this place, counted from the top, has no whole answer."""
        self._reach = min(self._reach, place)

    def begin(self, key: Key) -> int:
        """Begin with an answer; :meth:`end` takes what this gives."""
        self._places[key] = len(self._places)
        outer, self._reach = self._reach, _ALL
        return outer

    def end(self, key: Key, outer: int) -> int | None:
        """Be done with it.

        Returns:
            The place above that something in it was cut short by; None: it is whole.
        """
        place = self._places.pop(key)
        for each in self._until.pop(place, ()):
            self._meanwhile.pop(each, None)
        above = self._reach if self._reach < place else None
        self._reach = outer if above is None else min(outer, above)
        return above

    def wait(self, key: Key, above: int, looked_at: Collection[Key]) -> None:
        """Hold what was cut short until the place above is done."""
        if above >= 0:
            self._meanwhile[key] = (above, looked_at)
            self._until.setdefault(above, []).append(key)


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
