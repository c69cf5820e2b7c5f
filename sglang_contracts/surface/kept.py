"""What was read last, and is kept while there is room."""

from __future__ import annotations

from collections import OrderedDict
from typing import Generic, TypeVar

RecordId = tuple[str, str]
"""Release in which a frame was last changed, and the frame's name: equal where it is the same."""

T = TypeVar("T")


class Kept(Generic[T]):
    """What was worked out last, up to so many bytes; spares go first, then the longest unused."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._size = 0
        self._entries: OrderedDict[RecordId, tuple[T, int]] = OrderedDict()

    def get(self, key: RecordId) -> T | None:
        """The value, if it is still there."""
        entry = self._entries.get(key)
        if entry is None:
            return None
        self._entries.move_to_end(key)
        return entry[0]

    def put(self, key: RecordId, value: T, size: int, spare: bool = False) -> None:
        """Keep a value of that size; a spare one only while there is room."""
        self._entries[key] = (value, size)
        if spare:
            self._entries.move_to_end(key, last=False)
        self._size += size
        while self._size > self._limit and len(self._entries) > 1:
            self._size -= self._entries.popitem(last=False)[1][1]
