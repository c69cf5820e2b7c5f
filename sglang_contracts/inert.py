"""Text of others, made so that it steers nobody who shows it: a terminal, a CI log, a page.

File names, symbols and messages of a plugin end in every format that is printed. None of them may
move a cursor, end a line, start a command of a CI runner's log, or be too long to be read.
"""

from __future__ import annotations

import re
from collections.abc import Container
from typing import Any

LONGEST = 300
"""Characters of a word; of a longer one both ends are shown."""

_HEAD, _TAIL = 200, 60
_LONG_WORD = re.compile(rf"\S{{{LONGEST + 1},}}")
_LOG_COMMAND = re.compile(r"##(?=\[|vso\[)")
"""Runners of GitHub and Azure look for ``##[group]`` and ``##vso[...]`` anywhere in a line."""
_LINE_COMMAND = re.compile(r"^([^\S\n]*):(?=:)", re.MULTILINE)
"""GitHub's ``::error::``: first in a line, blanks before it do not count."""


def harmless(text: str, kept: str = "\n") -> str:
    r"""``text`` with what would move the cursor or colour a terminal spelled out (``\x1b``).

    Args:
        text: What somebody else wrote.
        kept: Characters that may stay though they move the cursor.
    """
    return "".join(
        c if c.isprintable() or c in kept else c.encode("unicode_escape").decode() for c in text
    )


def one_line(text: str) -> str:
    """``text`` as words on a line: printable, none too long, no command of a log in it."""
    if not text.isprintable():
        text = "".join(c if c.isprintable() else " " if c.isspace() else "\ufffd" for c in text)
    if len(text) > LONGEST:
        text = _LONG_WORD.sub(lambda word: _both_ends(word.group()), text)
    return _LOG_COMMAND.sub("## ", text)


def everywhere(value: Any, lines: Container[str] = ()) -> Any:
    """:func:`one_line` in lists and dictionaries of plain values, keys included.

    Args:
        value: The plain value.
        lines: Keys whose texts have several lines: code, and messages with code.
    """
    if isinstance(value, str):
        return one_line(value)
    if isinstance(value, dict):
        return {
            one_line(key): harmless(item)
            if key in lines and isinstance(item, str)
            else everywhere(item, lines)
            for key, item in value.items()
        }
    if isinstance(value, (list, tuple)):
        return [everywhere(item, lines) for item in value]
    return value


def no_log_commands(text: str, colon: str = ": ") -> str:
    """Lines none of which a CI runner takes for a command, whatever stands first in one.

    Args:
        text: The lines.
        colon: What to put for the first colon of ``::``; where the format has one, its escape.
    """
    if "::" in text:
        text = _LINE_COMMAND.sub(rf"\g<1>{colon}", text)
    return _LOG_COMMAND.sub("## ", text)


def _both_ends(word: str) -> str:
    return f"{word[:_HEAD]}...{len(word) - _HEAD - _TAIL:,} more...{word[-_TAIL:]}"
