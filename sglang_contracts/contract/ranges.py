"""Ranges of releases: a union of specifier sets with ``>=``, ``<`` and ``==`` only.

By PEP 440 ``<=0.5.12`` and ``>0.5.12`` both exclude ``0.5.12.post1``, which nobody expects: they
are refused, with the spelling that says what was meant.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence

from packaging.version import Version

_MAX_PARTS = 64


class RangeError(ValueError):
    """A range that cannot be understood.

    Args:
        message: What is wrong with it.
        text: The offending part.
        hint: What to write instead.
    """

    def __init__(self, message: str, text: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.text = text
        self.hint = hint


@functools.lru_cache(maxsize=4096)
def version(text: str) -> Version:
    """A parsed version, remembered."""
    return Version(text)


class Range:
    """A set of releases: a union of intervals.

    Args:
        parts: Specifier sets such as ``>=0.5.3,<0.5.13``; none: every release.
    """

    __slots__ = ("_members", "_parts", "parts")

    def __init__(self, parts: Sequence[str] = ()) -> None:
        if len(parts) > _MAX_PARTS:
            raise RangeError(f"more than {_MAX_PARTS} parts", str(parts[_MAX_PARTS]))
        self.parts = tuple(parts)
        self._parts = tuple(_parse_set(part) for part in self.parts)
        self._members: dict[str, bool] = {}

    @staticmethod
    def parse(text: str | Sequence[str]) -> Range:
        """A range from one specifier set or a list of them.

        Raises:
            RangeError: An operator other than ``>=``, ``<``, ``==``, or no version.
        """
        return Range.of((text,) if isinstance(text, str) else tuple(text))

    @staticmethod
    def of(parts: tuple[str, ...]) -> Range:
        """The same, from parts already apart; equal parts give the same object."""
        return _cached(parts)

    def contains(self, release: str) -> bool:
        """Whether a release lies in it."""
        known = self._members.get(release)
        if known is None:
            value = version(release)
            known = not self._parts or any(
                all(_holds(operator, bound, value) for operator, bound in part)
                for part in self._parts
            )
            self._members[release] = known
        return known

    def bounds(self) -> tuple[str, ...]:
        """All versions it names, ascending."""
        found = {bound for part in self._parts for _, bound in part}
        return tuple(str(bound) for bound in sorted(found))

    def select(self, releases: Iterable[str]) -> tuple[str, ...]:
        """Those of the releases that lie in it, in the order given."""
        return tuple(release for release in releases if self.contains(release))

    def __str__(self) -> str:
        return " or ".join(self.parts) or "every release"

    def __repr__(self) -> str:
        return f"Range({list(self.parts)!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Range) and self.parts == other.parts

    def __hash__(self) -> int:
        return hash(self.parts)


@functools.lru_cache(maxsize=8192)
def _cached(parts: tuple[str, ...]) -> Range:
    return Range(parts)


def _holds(operator: str, bound: Version, value: Version) -> bool:
    if operator == ">=":
        return value >= bound
    if operator == "<":
        return value < bound
    return value == bound


def _parse_set(text: str) -> tuple[tuple[str, Version], ...]:
    found: list[tuple[str, Version]] = []
    for piece in text.split(","):
        found.append(_parse_piece(piece.strip(), text))
    return tuple(found)


def _parse_piece(piece: str, whole: str) -> tuple[str, Version]:
    operator = next(
        (op for op in (">=", "<=", "==", "!=", "~=", ">", "<") if piece[:2] == op), None
    )
    operator = operator or next((op for op in (">", "<") if piece[:1] == op), None)
    if operator is None:
        raise RangeError(
            f"'{piece}' is no version bound" if piece else "an empty version bound",
            piece or whole,
            "write one or more of >=X, <X, ==X, separated by commas",
        )
    bound = piece[len(operator) :].strip()
    try:
        parsed = version(bound)
    except ValueError:  # InvalidVersion, or more digits than Python reads
        hint = "write X.Y.Z or X.Y.Z.postN"
        if bound.endswith(".*"):
            hint = f"write >={bound[:-2]},<…: wildcards are not allowed"
        raise RangeError(f"'{bound}' is no version", piece, hint) from None
    if operator not in (">=", "<", "=="):
        raise RangeError(
            f"operator '{operator}' is not allowed", piece, _instead(operator, bound, parsed)
        )
    return operator, parsed


def _instead(operator: str, bound: str, parsed: Version) -> str:
    following = f"{parsed.major}.{parsed.minor}.{parsed.micro + 1}"
    if operator == "<=":
        return (
            f"by PEP 440 <={bound} excludes {bound}.post1; write <{following} "
            "(the first release in which it does not hold)"
        )
    if operator == ">":
        return (
            f"by PEP 440 >{bound} excludes {bound}.post1; write >= and the first release "
            f"in which it holds, e.g. >={following}"
        )
    if operator == "~=":
        return f"write >={bound},<{parsed.major}.{parsed.minor + 1}"
    return f'write a list: ["<{bound}", ">={following}"]'


def sharp(presence: Mapping[str, bool]) -> tuple[str, ...]:
    """The tightest range that says exactly this presence, over the releases recorded.

    Args:
        presence: Release → whether it is there. At least one must be true.

    Returns:
        Parts of a union. A bound is always the first release of an interval or the first after
        it; before the first recorded release and after the newest it stays open. Empty where it
        is present throughout.

    Raises:
        RangeError: It is present in none.
    """
    ordered = sorted(presence, key=version)
    if not any(presence.values()):
        raise RangeError("present in no recorded release", "", "remove the clause")
    parts: list[str] = []
    start: int | None = None
    for index, release in enumerate(ordered):
        if presence[release] and start is None:
            start = index
        if not presence[release] and start is not None:
            parts.append(_interval(ordered, start, index))
            start = None
    if start is not None and not (start == 0 and not parts):
        parts.append(_interval(ordered, start, len(ordered)))
    return tuple(parts)


def _interval(ordered: Sequence[str], start: int, end: int) -> str:
    pieces = []
    if start > 0:
        pieces.append(f">={ordered[start]}")
    if end < len(ordered):
        pieces.append(f"<{ordered[end]}")
    return ",".join(pieces)
