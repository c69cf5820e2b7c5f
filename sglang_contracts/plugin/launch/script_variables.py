"""Variables of a shell script that a launch command is put together from.

``ARGS="--tp 8"``, ``ARGS+=" --flag"``, ``ARGS=(--tp 8)`` and then ``sglang.launch_server $ARGS``:
only what such a command names, itself or through another variable, belongs to it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

_ASSIGNED = re.compile(
    r"\s*(?:(?:export|local|readonly|declare|typeset|ENV|ARG)\s+(?:-\w+\s+)*)?([A-Za-z_]\w*)\+?="
)
_NAMED = re.compile(r"\$\{?([A-Za-z_]\w*)")
_QUOTES = "\"'"


class Piece(NamedTuple):
    """A part of one line."""

    line: int
    """From 1."""
    offset: int
    """Characters in front of it."""
    text: str


class Assigned(NamedTuple):
    """A variable, and what one assignment gives it."""

    name: str
    pieces: tuple[Piece, ...]


def named(text: str) -> set[str]:
    """The variables that a text names."""
    return set(_NAMED.findall(text))


def assignments(lines: Sequence[tuple[int, str]]) -> list[Assigned]:
    """Every assignment of a script, over as many lines as it takes.

    Args:
        lines: Numbers and texts of the lines that count, in order.
    """
    found: list[Assigned] = []
    left: list[tuple[int, str]] = list(reversed(lines))
    while left:
        number, line = left.pop()
        match = _ASSIGNED.match(line)
        if match is None:
            continue
        pieces = [Piece(number, match.end(), line[match.end() :])]
        while left and _goes_on(pieces):
            number, line = left.pop()
            pieces.append(Piece(number, 0, line))
        found.append(Assigned(match.group(1), _ended(pieces)))
    return found


def _goes_on(pieces: Sequence[Piece]) -> bool:
    """Whether an assignment is not finished yet: a list or a quote is open, or a line goes on."""
    first, last = pieces[0].text, pieces[-1].text.rstrip()
    if last.endswith("\\"):
        return True
    if first.startswith("("):
        return not last.endswith(")")
    if first[:1] not in _QUOTES or not first:
        return False
    return sum(piece.text.count(first[0]) for piece in pieces) % 2 == 1


def _ended(pieces: list[Piece]) -> tuple[Piece, ...]:
    """The pieces without what stands behind the value: another assignment, a command."""
    first, last = pieces[0].text, pieces[-1].text
    opened = first[:1]
    if opened == "(":
        last = last.rstrip().removesuffix(")")
    elif opened and opened in _QUOTES:
        begin = 1 if len(pieces) == 1 else 0
        end = last.find(opened, begin)
        last = last if end < 0 else last[:end]
    else:
        last = last.split()[0] if last.split() and not last[0].isspace() else ""
    return (*pieces[:-1], pieces[-1]._replace(text=last))


def of_command(wanted: Iterable[str], given: Sequence[Assigned]) -> list[Piece]:
    """The pieces of all assignments that the variables of a command stand for."""
    names, waiting = set(wanted), set(wanted)
    while waiting:
        inside: set[str] = set()
        for each in given:
            if each.name in waiting:
                inside.update(*(named(piece.text) for piece in each.pieces))
        waiting = inside - names
        names |= waiting
    return [piece for each in given if each.name in names for piece in each.pieces]
