"""Launch commands of shell text: scripts, fenced blocks, one command in a string.

A launch is put together from variables, lists and functions: only what one of them adds to it, by
whatever way, belongs to it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from sglang_contracts.plugin.launch.arguments import words_of
from sglang_contracts.plugin.launch.programs import MENTION, start
from sglang_contracts.plugin.launch.shell_syntax import Command, commands
from sglang_contracts.plugin.launch.word import Token, Word

_ASSIGNED = re.compile(r"([A-Za-z_]\w*)\+?=", re.ASCII)
_SETS = frozenset({"export", "local", "readonly", "declare", "typeset", "env", "set", "ENV", "ARG"})
_NAMED = re.compile(r"\$\{?([A-Za-z_]\w*|[@*])|\$\(([A-Za-z_]\w*)\)|%([A-Za-z_]\w*)%")
_DEFAULT = re.compile(r"\$\{[A-Za-z_]\w*:?[-+=]([^}]*)\}")
_FUNCTION = re.compile(r"[A-Za-z_][\w-]*\Z")
_ALL = frozenset({"@", "*"})
_DEEPEST = 4


class _Given(NamedTuple):
    """What an assignment gives a variable."""

    name: str
    tokens: tuple[Token, ...]


def scan_shell(
    text: str, line: int = 1, column: int = 1, escape: str = "\\", follows: str = ""
) -> list[Word]:
    r"""The words of every launch command in a shell's text.

    Args:
        text: What to read.
        line: Where it begins.
        column: Where it begins in that line.
        escape: What goes on in the next line.
        follows: The program to which all of it is an argument; empty: it is commands.
    """
    script = _Script(escape)
    for command in commands(text, line, column, escape):
        if follows:
            script.material(command.tokens, follows)
        else:
            script.read(command)
    return script.words()


def scan_tokens(tokens: Sequence[Token]) -> list[Word]:
    """The words of one command that is taken apart already."""
    script = _Script("\\")
    script.read(Command(tuple(tokens)))
    return script.words()


def program_of(text: str) -> str | None:
    """The program of SGLang's that a text starts first; None: none."""
    for command in commands(text):
        begin = start(command.tokens)
        if begin is not None:
            return begin.program
        for token in command.tokens:
            if " " in token.text and MENTION.search(token.text):
                inner = program_of(token.text)
                if inner is not None:
                    return inner
    return None


class _Script:
    """What a script sets and starts; :meth:`words` puts it together."""

    def __init__(self, escape: str) -> None:
        self.escape = escape
        self.given: list[_Given] = []
        self.lines: list[tuple[tuple[Token, ...], str]] = []
        """Commands, and the function that each stands in."""
        self.found: list[Word] = []
        self.wanted: dict[str, str] = {}
        """Variables that are part of a launch → its program."""
        self.launches: dict[str, str] = {}
        """Variables that hold a launch from its start."""
        self._function = ""

    def read(self, command: Command, depth: int = 0) -> None:
        """Take in a command: what it sets, what it starts, and commands in its quotes."""
        tokens = command.tokens
        for array in command.arrays:
            self.given.append(_Given(array.name, array.tokens))
        front = 0
        while front < len(tokens):
            text = tokens[front].text
            found = _ASSIGNED.match(text)
            if found:
                self.given.append(_Given(found.group(1), self._value(tokens[front], found.end())))
            elif text not in _SETS and not (front and text.startswith("-")):
                break
            front += 1
        self._function_of(tokens)
        if tokens[front:]:
            self.lines.append((tokens[front:], self._function))
        if depth < _DEEPEST:
            for token in tokens:
                text = token.text
                if " " in text and MENTION.search(text) and not _ASSIGNED.match(text):
                    self._nested(token, depth)

    def _nested(self, token: Token, depth: int) -> None:
        """Commands in a quoted word: ``bash -c '…'``, ``ssh host "…"``."""
        for command in commands(token.text, token.line, token.column + token.inner, self.escape):
            self.read(command, depth + 1)

    def _function_of(self, tokens: Sequence[Token]) -> None:
        """Keep in mind which function a command stands in."""
        texts = [token.text for token in tokens[:3]]
        if texts[:1] == ["}"]:
            self._function = ""
        elif texts[:1] == ["function"] and len(texts) > 1:
            self._function = texts[1].rstrip("(){")
        elif len(texts) == 1 and _FUNCTION.match(texts[0]):
            self._last = texts[0]
        elif texts[:1] == ["{"]:
            self._function = getattr(self, "_last", "")

    def _value(self, token: Token, offset: int) -> tuple[Token, ...]:
        """The words of the value in ``NAME=value``."""
        text = token.text[offset:]
        column = token.column + offset + (1 if token.inner == 0 and " " in text else 0)
        found: list[Token] = []
        for command in commands(text, token.line, column, self.escape):
            found += command.tokens
        return tuple(found)

    def words(self) -> list[Word]:
        """All of it."""
        self._holders()
        for tokens, function in self.lines:
            begin = self._start(tokens)
            if begin is not None:
                self.material(tokens[begin[1] :], begin[0], function, whole=True)
        for each in self.given:
            begin = self._start(each.tokens)
            if begin is not None:
                self.material(each.tokens[begin[1] :], begin[0])
        done: set[str] = set()
        while self.wanted.keys() - done:
            for name in self.wanted.keys() - done:
                done.add(name)
                self._all_of(name, self.wanted[name])
        return list(dict.fromkeys(self.found))

    def _all_of(self, name: str, program: str) -> None:
        """What a variable of a launch is given; what a function or ``set --`` is."""
        function = name.removesuffix("()")
        if function != name:
            for tokens, _ in self.lines:
                if tokens[0].text == function and not (len(tokens) > 1 and tokens[1].text == "{"):
                    self.material(tokens[1:], program)
            return
        if name in _ALL:
            for tokens, _ in self.lines:
                if tokens[0].text == "--":  # after ``set``
                    self.material(tokens[1:], program)
            return
        for each in self.given:
            if each.name == name and self._start(each.tokens) is None:
                self.material(each.tokens, program)

    def _holders(self) -> None:
        """Find the variables that hold a launch, one by way of another."""
        for _ in range(_DEEPEST):
            before = len(self.launches)
            for each in self.given:
                begin = self._start(each.tokens)
                if begin is not None:
                    self.launches.setdefault(each.name, begin[0])
                    self.wanted.setdefault(each.name, begin[0])
            if len(self.launches) == before:
                return

    def _start(self, tokens: Sequence[Token]) -> tuple[str, int] | None:
        """The program that is started, and where its arguments begin."""
        found = start(tokens)
        if found is not None:
            return found
        for position, token in enumerate(tokens):
            for name in _names(token.text):
                if name in self.launches and position < 4:
                    return self.launches[name], position + 1
        return None

    def material(
        self, tokens: Iterable[Token], program: str, function: str = "", *, whole: bool = False
    ) -> None:
        """Take tokens for arguments of a program.

        Args:
            tokens: The words.
            program: Whose they are.
            function: The function they stand in.
            whole: Whether nothing follows them.
        """
        kept = list(tokens)
        self.found += words_of(kept, program, whole=whole)
        for token in kept:
            for default in _DEFAULT.finditer(token.text):
                inner = commands(default.group(1), token.line, token.column, self.escape)
                for command in inner:
                    self.found += words_of(command.tokens, program)
            for name in _names(token.text):
                if name in _ALL and function:
                    self.wanted.setdefault(f"{function}()", program)
                elif name not in self.launches:
                    self.wanted.setdefault(name, program)


def _names(text: str) -> list[str]:
    """The variables that a word names."""
    return [one or other or third for one, other, third in _NAMED.findall(text)]
