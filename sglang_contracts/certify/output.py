"""What a process says, kept in part: its beginning and its end, however much it prints."""

from __future__ import annotations

_MOST = 64 << 10
"""Bytes of the beginning, and of the end."""


class Kept:
    """The beginning and the end of an output."""

    def __init__(self) -> None:
        self._first = b""
        self._last = b""
        self._all = 0

    def add(self, data: bytes) -> None:
        """Take what was printed next."""
        self._all += len(data)
        room = _MOST - len(self._first)
        self._first += data[:room]
        self._last = (self._last + data[room:])[-_MOST:]

    def text(self) -> str:
        """What was kept, with a line on what was not."""
        lost = self._all - len(self._first) - len(self._last)
        between = f"\n... {lost} bytes left out ...\n".encode() if lost else b""
        return (self._first + between + self._last).decode(errors="replace")
