"""Entries of the user's cache: bytes under a key, sealed, bounded in number and size, swept.

An entry that is not what was written, is a link or a pipe, is too large or cannot be read counts as
none: what it held is worked out again. A cache that cannot be written to costs time, not answers.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import time
from dataclasses import dataclass
from pathlib import Path

from sglang_contracts import paths
from sglang_contracts.errors import ContractsError
from sglang_contracts.files import PARTIAL, STALE, read_own, write_atomically

LIMIT = 256 * 2**20
"""Bytes of an entry: the record of a plugin of 200,000 lines takes a tenth."""

TOTAL = 512 * 2**20
"""Bytes that the entries of one kind may take together."""

_SUFFIX = ".msgpack"
_SEAL = 16


@dataclass(frozen=True)
class DiskCache:
    """One folder of the user's cache.

    Attributes:
        kind: Its name.
        most: Entries kept; the oldest go first.
    """

    kind: str
    most: int

    def path(self, key: str) -> Path:
        """Where the entry of a key lies."""
        return paths.cache() / self.kind / f"{key}{_SUFFIX}"

    def read(self, key: str) -> bytes | None:
        """What was written under a key; None: nothing, or not as it was written."""
        try:
            kept = read_own(self.path(key), LIMIT)
        except OSError:
            return None
        data = kept[_SEAL:]
        return data if kept[:_SEAL] == self._seal(key, data) else None

    def write(self, key: str, data: bytes) -> None:
        """Keep bytes under a key."""
        if len(data) + _SEAL > LIMIT:
            return
        place = self.path(key)
        with contextlib.suppress(ContractsError):
            write_atomically(place, self._seal(key, data) + data, durable=False)
            _sweep(place.parent, self.most)

    def _seal(self, key: str, data: bytes) -> bytes:
        """A digest of the bytes and of where they belong: an entry renamed is none."""
        whole = hashlib.blake2b(f"{self.kind}\0{key}\0".encode(), digest_size=_SEAL)
        whole.update(data)
        return whole.digest()


def _sweep(folder: Path, most: int) -> None:
    """Remove the oldest entries beyond the limits, and what killed runs have left half-written."""
    entries, now = [], time.time()
    with contextlib.suppress(OSError), os.scandir(folder) as found:
        for each in found:
            with contextlib.suppress(OSError):  # another run may sweep at the same time
                status = each.stat(follow_symlinks=False)
                if each.name.endswith(_SUFFIX):
                    entries.append((status.st_mtime, status.st_size, each.path))
                elif each.name.endswith(PARTIAL) and now - status.st_mtime > STALE:
                    os.unlink(each.path)  # noqa: PTH108 - an entry of scandir
    room = TOTAL
    for rank, (_, size, path) in enumerate(sorted(entries, reverse=True)):
        room -= size
        if rank and (rank >= most or room < 0):  # the newest stays: it has just been asked for
            with contextlib.suppress(OSError):
                os.unlink(path)  # noqa: PTH108
