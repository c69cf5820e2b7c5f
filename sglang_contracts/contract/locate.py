"""Where in a TOML text a key stands: ``tomllib`` tells no positions.

Not a parser: :mod:`tomllib` has accepted the text already. It walks over tokens (keys, headers,
strings, brackets) and notes the line of each key path, arrays of tables with their index.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Sequence

Path = tuple[str | int, ...]

_NEWLINE = re.compile(r"\n")
_BARE = re.compile(r"[A-Za-z0-9_\-]+")
_SPACE = re.compile(r"[ \t]*")
_STRINGS = re.compile(
    r'"""(?:\\.|[^\\])*?"{3,5}'
    r"|'''(?:.|\n)*?'{3,5}"
    r'|"(?:\\.|[^"\\\n])*"'
    r"|'[^'\n]*'",
    re.DOTALL,
)
_ESCAPE = re.compile(r"\\(.)")


class Locator:
    """The line of each key path in a TOML text.

    Args:
        text: TOML that parses.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._ends = [match.start() for match in _NEWLINE.finditer(text)]
        self._lines: dict[Path, int] = {(): 1}
        self._prefix: Path = ()
        self._counts: dict[Path, int] = {}
        self._scan()

    def line(self, path: Sequence[str | int]) -> int:
        """The line (from 1) of a path, or of the nearest enclosing one that has a line."""
        wanted = tuple(path)
        while wanted not in self._lines:
            wanted = wanted[:-1]
        return self._lines[wanted]

    def _scan(self) -> None:
        position = 0
        while position < len(self._text):
            char = self._text[position]
            if char in " \t\r\n":
                position += 1
            elif char == "#":
                position = self._line_end(position)
            elif char == "[":
                position = self._header(position)
            else:
                position = self._entry(position, self._prefix)

    def _line_end(self, position: int) -> int:
        end = self._text.find("\n", position)
        return len(self._text) if end < 0 else end

    def _note(self, path: Path, position: int) -> None:
        line = bisect.bisect_left(self._ends, position) + 1
        for length in range(1, len(path) + 1):
            self._lines.setdefault(path[:length], line)

    def _header(self, position: int) -> int:
        start = position
        many = self._text.startswith("[[", position)
        keys, position = self._keys(position + (2 if many else 1))
        path = self._absolute(keys[:-1])
        if many:
            whole = (*path, keys[-1])
            index = self._counts.get(whole, 0)
            self._counts[whole] = index + 1
            path = (*whole, index)
        else:
            path = (*path, keys[-1])
        self._prefix = path
        self._note(path, start)
        return self._line_end(position)

    def _absolute(self, keys: Sequence[str]) -> Path:
        path: Path = ()
        for key in keys:
            path = (*path, key)
            if path in self._counts:
                path = (*path, self._counts[path] - 1)
        return path

    def _keys(self, position: int) -> tuple[list[str], int]:
        keys: list[str] = []
        while True:
            position = self._skip_space(position)
            match = _BARE.match(self._text, position) or _STRINGS.match(self._text, position)
            if match is None:
                return keys or [""], max(position, 1)
            keys.append(_unquote(match.group()))
            position = self._skip_space(match.end())
            if not self._text.startswith(".", position):
                return keys, position
            position += 1

    def _skip_space(self, position: int) -> int:
        match = _SPACE.match(self._text, position)
        return match.end() if match else position

    def _entry(self, position: int, prefix: Path) -> int:
        keys, after = self._keys(position)
        path = (*prefix, *keys)
        self._note(path, position)
        after = self._skip_space(after)
        if self._text.startswith("=", after):
            after = self._skip_space(after + 1)
            return self._value(after, path)
        return max(after, position + 1)

    def _value(self, position: int, path: Path) -> int:
        text = self._text
        if position >= len(text):
            return position
        if text[position] == "[":
            return self._array(position + 1, path)
        if text[position] == "{":
            return self._inline(position + 1, path)
        match = _STRINGS.match(text, position)
        if match is not None:
            return match.end()
        while position < len(text) and text[position] not in ",]}\n#":
            position += 1
        return position

    def _blank(self, position: int) -> int:
        while position < len(self._text):
            if self._text[position] == "#":
                position = self._line_end(position)
            elif self._text[position] in " \t\r\n,":
                position += 1
            else:
                break
        return position

    def _array(self, position: int, path: Path) -> int:
        index = 0
        while True:
            position = self._blank(position)
            if position >= len(self._text) or self._text[position] == "]":
                return position + 1
            self._note((*path, index), position)
            position = max(self._value(position, (*path, index)), position + 1)
            index += 1

    def _inline(self, position: int, path: Path) -> int:
        while True:
            position = self._blank(position)
            if position >= len(self._text) or self._text[position] == "}":
                return position + 1
            position = self._entry(position, path)


def _unquote(text: str) -> str:
    if text[:1] == "'":
        return text[1:-1]
    if text[:1] == '"':
        return _ESCAPE.sub(r"\1", text[1:-1])
    return text
