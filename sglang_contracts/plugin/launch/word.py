"""A flag or an environment variable at a place: what every form of launch command comes to."""

from __future__ import annotations

import re

import msgspec

HOLE = "$"
"""A value that stands there and cannot be told: a variable, a template's hole, an expression."""
SERVER = "sglang.launch_server"
"""The program that ``python -m sglang.launch_server`` and ``sglang serve`` start."""
BACKEND = "--model-type"
"""By which ``sglang serve`` is told what to serve with; no flag of the server itself."""
FLAG = re.compile(r"--[a-z][a-z0-9]*(?:[-_.][a-z0-9]+)*\Z")
_NUMBER = re.compile(r"-(?:\d+\.?\d*|\.\d+)(?:e-?\d+)?\Z")


class Word(msgspec.Struct, frozen=True):
    """A flag or an environment variable at a place."""

    name: str
    """``--flag`` or ``NAME``."""
    line: int
    column: int
    value: str | None = None
    """What the flag is given; None: nothing; :data:`HOLE`: something that cannot be told."""
    program: str = ""
    """Of a flag: the program it is given to, as a module."""

    @property
    def is_flag(self) -> bool:
        """Whether it is a flag."""
        return self.name.startswith("--")


class Token(msgspec.Struct, frozen=True):
    """One word of a command line at its place."""

    text: str
    line: int
    column: int
    """From 1."""
    inner: int = 0
    """Characters from :attr:`column` to where a quoted text begins."""
    operator: bool = False
    """Whether it is an unquoted operator of the shell's, which ends a command."""
    command: bool = False
    """Whether it stands for what a substitution puts out."""


def no_value(text: str) -> bool:
    """Whether a word is no value of the flag before it: a flag, but no negative number."""
    return text.startswith("-") and not _NUMBER.match(text)


def has_hole(text: str) -> bool:
    """Whether a part of a text is put in later: by a shell, a template, a format."""
    return "$" in text or "{{" in text or bool(_TEMPLATE.search(text)) or "<%" in text


_TEMPLATE = re.compile(
    r"\{[A-Za-z_][\w.\[\]'\"]*(?:![rsa])?(?::[^{}]*)?\}|^<[^<>]+>$|%\(\w+\)s|%[A-Z_]+%|\{\}"
)
