"""A shell's text taken apart into commands and words, each with its place.

No shell is run and nothing is expanded: what a variable or a substitution stands for stays a hole.
What is no valid shell is read as far as it goes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from sglang_contracts.plugin.launch.word import Token

_OPERATORS = ("&&", "||", ";;", "|&", ";", "|", "&", "\n")
_REDIRECTION = re.compile(r"(?:\d*|&)(?:>>|>&|<<<|<<-?|<&|>|<)(?:&?\d+|-)?")
_ARRAY = re.compile(r"[A-Za-z_]\w*\+?=\Z")
_HOLE = re.compile(
    r"<[A-Za-z_][\w ./-]*>|\{\{.*?(?:\}\}|\Z)|\{%.*?(?:%\}|\Z)|\$\{[^}]*\}?", re.DOTALL
)
"""What is put in later: ``<MODEL>`` of a document, ``{{ x }}`` of a template, ``${X}``."""
_FLAG_NEXT = re.compile(r"\n[ \t]*--[a-z]")


class Assignment(NamedTuple):
    """``NAME=(…)``."""

    name: str
    tokens: tuple[Token, ...]


class Command(NamedTuple):
    """A simple command: no operator in it."""

    tokens: tuple[Token, ...]
    arrays: tuple[Assignment, ...] = ()
    """Lists that are set in it."""


def commands(text: str, line: int = 1, column: int = 1, escape: str = "\\") -> list[Command]:
    r"""The simple commands of a text.

    Args:
        text: Shell, or the words of one command.
        line: Where it begins.
        column: Where it begins in that line; further lines begin at 1.
        escape: What goes on in the next line: a backslash in a shell, ``^`` in a batch file, a
            backtick in PowerShell.
    """
    return list(_Reader(text, line, column, escape).commands())


class _Reader:
    """One pass over a text."""

    def __init__(self, text: str, line: int, column: int, escape: str) -> None:
        self.text = text
        self.at = 0
        self.line = line
        self.origin = 1 - column
        """Offset in the text at which the present line has column 1."""
        self.escape = escape

    def commands(self) -> Iterator[Command]:
        tokens: list[Token] = []
        arrays: list[Assignment] = []
        while True:
            token = self._next()
            if token is None or token.operator:
                if tokens or arrays:
                    yield Command(tuple(tokens), tuple(arrays))
                    tokens, arrays = [], []
                if token is None:
                    return
            elif _ARRAY.match(token.text) and self.text.startswith("(", self.at):
                self.at += 1
                arrays.append(Assignment(token.text.rstrip("+="), tuple(self._array())))
            else:
                tokens.append(token)

    def _array(self) -> Iterator[Token]:
        while True:
            token = self._next()
            if token is None or (token.operator and token.text == ")"):
                return
            if not token.operator:
                yield token

    def _forward(self, count: int = 1) -> None:
        end = min(self.at + count, len(self.text))
        breaks = self.text.count("\n", self.at, end)
        if breaks:
            self.line += breaks
            self.origin = self.text.rindex("\n", self.at, end) + 1
        self.at = end

    def _blank(self) -> None:
        """Past spaces, continued lines and comments."""
        text, size = self.text, len(self.text)
        while self.at < size:
            char = text[self.at]
            if char in " \t\r":
                self.at += 1
            elif char == self.escape and self._ends_line(self.at + 1):
                self._forward(text.index("\n", self.at) - self.at + 1)
            elif char == "#" and (self.at == 0 or text[self.at - 1] in " \t\n;"):
                end = text.find("\n", self.at)
                self.at = size if end < 0 else end
            elif char == "\n" and _FLAG_NEXT.match(text, self.at):
                self._forward()  # flags in lines of their own, as documents write them
            else:
                return

    def _ends_line(self, at: int) -> bool:
        """Whether nothing but spaces stands there before the end of a line."""
        end = self.text.find("\n", at)
        return end >= 0 and not self.text[at:end].strip()

    def _next(self) -> Token | None:
        while True:
            self._blank()
            if self.at >= len(self.text):
                return None
            found = _REDIRECTION.match(self.text, self.at)
            if found is None or _HOLE.match(self.text, self.at):
                break
            self.at = found.end()
            if not found.group()[-1].isdigit() and not found.group().endswith("-"):
                self._blank()
                self._word()  # where it goes
        for operator in _OPERATORS:
            if self.text.startswith(operator, self.at):
                return self._operator(len(operator))
        return self._word()

    def _operator(self, size: int = 1) -> Token:
        text, line, column = self.text[self.at : self.at + size], self.line, self._column
        self._forward(size)
        return Token(text, line, column, operator=True)

    @property
    def _column(self) -> int:
        return self.at - self.origin + 1

    def _word(self) -> Token:
        """One word: quoted and bare pieces without a space between."""
        text, size = self.text, len(self.text)
        line, column, begin, inner = self.line, self._column, self.at, 0
        if text[begin : begin + 1] in ("(", ")"):
            return self._operator()
        made: list[str] = []
        while self.at < size:
            char = text[self.at]
            hole = _HOLE.match(text, self.at)
            if hole:
                made.append(hole.group())
                self._forward(len(hole.group()))
            elif char in " \t\r\n;|&<>)" or (char == "(" and made):
                break
            elif char in "'\"":
                if not made:
                    inner = self.at + 1 - begin
                made.append(self._quoted(char))
            elif char == self.escape and (self._ends_line(self.at + 1) or self.at + 1 == size):
                break
            elif char == "\\" and self.escape == "\\":
                made.append(text[self.at + 1])
                self._forward(2)
            elif text.startswith("$(", self.at) or (char == "`" and self.escape != "`"):
                made.append(self._substitution(char))
            else:
                made.append(char)
                self.at += 1
        if self.at == begin:  # nothing that begins a word
            return self._operator()
        return Token("".join(made), line, column, inner)

    def _quoted(self, quote: str) -> str:
        text, size = self.text, len(self.text)
        self.at += 1
        made: list[str] = []
        while self.at < size and text[self.at] != quote:
            step = 1
            if text[self.at] == "\\" and quote == '"' and self.escape == "\\":
                step = 2
                following = text[self.at + 1 : self.at + 2]
                made.append(following if following in '"\\$`' else "\\" + following)
            else:
                made.append(text[self.at])
            self._forward(step)
        self.at += 1
        return "".join(made)

    def _substitution(self, char: str) -> str:
        text, size = self.text, len(self.text)
        begin = end = self.at
        if char == "`":
            end = text.find("`", begin + 1)
            end = size if end < 0 else end + 1
        else:
            depth = 0
            while end < size:
                depth += (text[end] == "(") - (text[end] == ")")
                end += 1
                if text[end - 1] == ")" and depth == 0:
                    break
        self._forward(end - begin)
        return "$" + text[begin:end].lstrip("$")
