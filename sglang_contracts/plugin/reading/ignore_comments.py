"""``# sglang-contracts: ignore[rule] reason`` comments in a plugin's source."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

MARK = "sglang-contracts:"

_FORM = re.compile(
    r"#\s*sglang-contracts:\s*ignore\s*\[(?P<rules>[a-z0-9*,\s-]+)\]\s*(?P<reason>.*)"
)
"""No two repetitions beside each other match the same: thousands of blanks are looked at once."""


class Ignore(msgspec.Struct, frozen=True, order=True):
    """One comment."""

    file: str
    line: int
    """Where the comment stands."""
    rules: tuple[str, ...] = ()
    """Rules it silences; empty: the comment could not be understood."""
    reason: str = ""
    first: int = 0
    """First line of the code that it speaks of."""
    last: int = 0
    """Last line of it: a comment on any line of a statement speaks of all of the statement."""


def read_ignores(file: str, text: str) -> tuple[Ignore, ...]:
    """The comments in one Python file.

    A comment behind code speaks of the whole logical line; one on a line of its own speaks of
    the next logical line. Text inside strings is no comment. A file that cannot be tokenised has
    the comments before the place where it breaks.

    Args:
        file: Its path relative to the plugin's root.
        text: Its source.
    """
    if MARK not in text:
        return ()
    found: list[Ignore] = []
    pending: list[tuple[int, str]] = []
    start = 0
    for token in _tokens(text):
        if token.type == tokenize.COMMENT and MARK in token.string:
            pending.append((token.start[0], token.string))
        elif token.type == tokenize.NEWLINE:
            end = token.start[0]
            found += [_ignore(file, line, comment, start, end) for line, comment in pending]
            pending, start = [], 0
        elif not start and token.type not in _LAYOUT:
            start = token.start[0]
    found += [_ignore(file, line, comment, line, line) for line, comment in pending]
    return tuple(sorted(found))


_LAYOUT = frozenset(
    {
        tokenize.COMMENT,
        tokenize.NL,
        tokenize.INDENT,
        tokenize.DEDENT,
        tokenize.ENCODING,
        tokenize.ENDMARKER,
    }
)


def _tokens(text: str) -> Iterable[tokenize.TokenInfo]:
    try:
        yield from tokenize.generate_tokens(io.StringIO(text).readline)
    except (tokenize.TokenError, SyntaxError):
        return


def _ignore(file: str, line: int, comment: str, first: int, last: int) -> Ignore:
    match = _FORM.search(comment)
    if match is None:
        return Ignore(file, line, (), "", first, last)
    rules = tuple(rule.strip() for rule in match["rules"].split(",") if rule.strip())
    return Ignore(file, line, rules, match["reason"].strip(), first, max(first, last))


def read_line_ignores(file: str, text: str) -> tuple[Ignore, ...]:
    """The comments in a file whose comments begin with ``#`` but that is no Python (shell, YAML).

    A comment behind code speaks of its line, one on a line of its own of the next line of code.
    """
    if MARK not in text:
        return ()
    found: list[Ignore] = []
    pending: list[tuple[int, str]] = []
    for number, line in enumerate(text.splitlines(), 1):
        code, mark, _ = line.partition("#")
        if mark and MARK in line:
            pending.append((number, line[len(code) :]))
        if code.strip():
            found += [_ignore(file, at, comment, number, number) for at, comment in pending]
            pending = []
    found += [_ignore(file, at, comment, at, at) for at, comment in pending]
    return tuple(sorted(found))


def ignores_in(root: Path | str, exclude: Sequence[str] = ()) -> tuple[Ignore, ...]:
    """The comments in all files of a plugin that are looked at.

    Args:
        root: A folder, a file, a wheel, or the name of an installed distribution.
        exclude: Globs, relative to the root, of files to leave out.

    Raises:
        ContractsError: There is nothing to read.
    """
    from sglang_contracts.plugin.reading.files import plain_text, python_text, read_sources

    found: list[Ignore] = []
    for source in read_sources(root, exclude).files:
        if MARK.encode() not in source.data:
            continue
        if source.kind in ("python", "notebook"):
            try:
                found += read_ignores(source.path, python_text(source))
            except ValueError:
                continue  # the check itself says what it could not read
        else:
            found += read_line_ignores(source.path, plain_text(source.data))
    return tuple(sorted(found))
