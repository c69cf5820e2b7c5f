"""What one process tells of its share of the checks, and whether the suite itself has told it.

A check that begins is given a token; its result counts with that token only, and once. Whatever
else arrives was written by somebody else, and is noted: a run with such a note shows nothing.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from sglang_contracts.suite.result import OUTCOMES, Result

_LONGEST_LINE = 16 << 20
"""Bytes: far more than a result has."""

_MOST_NOTES = 10

_CLOSING = ""
"""Stands for the end of the session, where a check has its id."""


class _Finished(msgspec.Struct, frozen=True):
    used: list[tuple[str, str, int]] = []
    capabilities: dict[str, Any] = {}
    threads: list[str] = []
    altered: list[str] = []
    before: list[str] = []
    loaded: list[str] = []


class _Stopped(msgspec.Struct, frozen=True):
    message: str
    hint: str


class _Line(msgspec.Struct, frozen=True):
    """What a line may say. The plugin runs where they are written: one may be anything."""

    planned: list[str] | None = None
    began: str | None = None
    closing: bool | None = None
    result: Result | None = None
    used: list[tuple[str, str, int]] = []
    finished: _Finished | None = None
    stopped: _Stopped | None = None
    token: str = ""


@dataclass
class Share:
    """The checks of one process, and what it has told of them.

    Attributes:
        ids: The checks that it was given.
        answer: Called with each token that is to be sent to it.
        lines: What it has told, as far as it counts.
        notes: Sentences on what somebody else has written.
        results: Id → result.
        used: (mode, dtype, page size) that its checks have exercised.
        closing: Its checks have ended, or could not begin.
    """

    ids: Sequence[str]
    answer: Callable[[str], None] = lambda token: None
    lines: list[dict[str, Any]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    results: dict[str, Result] = field(default_factory=dict)
    used: set[tuple[str, str, int]] = field(default_factory=set)
    closing: bool = False
    _rest: bytes = b""
    _begun: list[str] = field(default_factory=list)
    _awaited: tuple[str, str] | None = None

    def feed(self, data: bytes) -> Iterator[dict[str, Any]]:
        """Take what has arrived; gives the lines that count. Half a line has not come yet."""
        *whole, self._rest = (self._rest + data).split(b"\n")
        if len(self._rest) > _LONGEST_LINE:
            self._rest = b""
            self._note("something that is no message of the suite")
        for text in whole:
            try:
                told = json.loads(text)
                line = msgspec.convert(told, _Line)
            except (ValueError, RecursionError):
                self._note("something that is no message of the suite")
                continue
            if self._counts(line):
                self.lines.append(told)
                yield told

    def found(self, kind: str) -> list[Any]:
        """The lines of one kind (``planned``, ``began``, ``result``, ``stopped``, ``finished``)."""
        return [line[kind] for line in self.lines if kind in line]

    def first(self, kind: str) -> Any:
        """The first line of a kind; None if none came."""
        return next(iter(self.found(kind)), None)

    @property
    def reached(self) -> bool:
        """Whether it came as far as the checks: one has a result, or all is over."""
        return bool(self.results) or self.first("finished") is not None

    @property
    def running(self) -> str:
        """The check that has begun and has no result; empty: there is none."""
        last = self._begun[-1] if self._begun else ""
        return "" if last in self.results else last

    def left(self) -> list[str]:
        """Checks that have not even begun."""
        return [each for each in self.ids if each not in self._begun]

    def place(self) -> str:
        """What ran last."""
        if not self._begun:
            return "before the first check: while the plugin and SGLang were loaded"
        return f"during {self.running}" if self.running else f"after {self._begun[-1]}"

    def _counts(self, line: _Line) -> bool:
        if line.began is not None:
            return self._begin(line.began)
        if line.closing is not None:
            self.closing = True
            self._give_token(_CLOSING)
            return False
        if line.result is not None:
            return self._take(line.result, line)
        if line.finished is not None:
            return self._awaits(_CLOSING, line.token) or self._note("an end of the session")
        if line.planned is not None and (self.lines or self._begun):
            return self._note("a second plan")
        self.closing |= line.stopped is not None
        return line.planned is not None or line.stopped is not None

    def _begin(self, id: str) -> bool:
        if id not in self.ids:
            return self._note(f"a check that was not its own begins: {id!r}")
        if id in self._begun:
            return self._note(f"{id} begins a second time")
        self._begun.append(id)
        self._give_token(id)
        return True

    def _take(self, result: Result, line: _Line) -> bool:
        if result.id in self.results:
            return self._note(f"a second result of {result.id}")
        if not self._awaits(result.id, line.token) or result.outcome not in OUTCOMES:
            return self._note(f"a result of {result.id!r}")
        self.results[result.id] = result
        self.used.update(line.used)
        return True

    def _give_token(self, whom: str) -> None:
        token = secrets.token_hex(16)
        self._awaited = (whom, token)
        self.answer(token)

    def _awaits(self, whom: str, token: str) -> bool:
        """Whether this token was the last one given, and to whom; it is good for once."""
        fits = self._awaited is not None and self._awaited == (whom, token)
        if fits:
            self._awaited = None
        return fits

    def _note(self, what: str) -> bool:
        """Note what came from somebody else; gives False: it does not count."""
        sentence = f"among the results stood what no check of the suite has written: {what[:200]}"
        if sentence not in self.notes and len(self.notes) < _MOST_NOTES:
            self.notes.append(sentence)
        return False
