"""Whether a file that could not be read may use SGLang all the same.

A file that is skipped has no findings. That tells nothing of it unless SGLang's name stands nowhere
in it: only then can the rest of the plugin be called compatible without it.
"""

from __future__ import annotations

from typing import IO

SEARCHED = 256_000_000
"""Bytes of oversized files that are searched in one plugin; of what lies beyond nobody can tell."""

_NAME = b"sglang"
_PIECE = 1 << 20
_WIDEST = 4
"""Bytes of a character in the widest encoding that is seen through (UTF-32)."""


def names_sglang(data: bytes) -> bool:
    """Whether SGLang's name stands in a file's bytes: in any case, as UTF-16 or UTF-32, too."""
    return _NAME in data.replace(b"\0", b"").lower()


class Search:
    """Looks through files that are too large to be read, piece by piece.

    Args:
        limit: Bytes that are looked through in all.
    """

    def __init__(self, limit: int = SEARCHED) -> None:
        self._left = limit

    def finds(self, stream: IO[bytes]) -> bool:
        """Whether the name stands in a file; also where the rest of it lies beyond the limit."""
        tail = b""
        while self._left > 0:
            piece = stream.read(min(_PIECE, self._left))
            if not piece:
                return False
            self._left -= len(piece)
            if names_sglang(tail + piece):
                return True
            tail = piece[-_WIDEST * len(_NAME) :]
        return bool(stream.read(1))
