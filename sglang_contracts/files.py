"""Reading files that end, and writing them so that nobody ever sees half of one."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
import tempfile
from pathlib import Path

from sglang_contracts.errors import ContractsError

CACHE_HINT = "set SGLANG_CONTRACTS_CACHE to a folder that can be written to"


def read_regular(path: Path, limit: int) -> bytes:
    """The bytes of a file; what may have no end (a pipe, a device) is not even opened.

    Raises:
        OSError: It cannot be read, is no regular file, or holds more than ``limit`` bytes.
    """
    status = path.stat()
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "is no regular file", str(path))
    if status.st_size > limit:
        raise OSError(errno.EFBIG, f"is larger than {limit >> 20} MiB", str(path))
    return path.read_bytes()


def write_atomically(path: Path, data: bytes, hint: str = CACHE_HINT) -> None:
    """Write a file so that a reader, or a second writer, never sees half of it.

    Folders above it are made. It keeps the mode it had; a new one gets that of any new file.

    Raises:
        ContractsError: The place cannot be written to (``hint`` says what to do); nothing was
            changed.
    """
    temporary = ""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
        Path(temporary).chmod(_mode(path))  # mkstemp's 0600 would hide it from other readers
        os.replace(temporary, path)  # noqa: PTH105 - the one call that is atomic everywhere
    except OSError as error:
        if temporary:
            Path(temporary).unlink(missing_ok=True)
        raise ContractsError(f"cannot write {path}: {error.strerror or error}", hint) from None


def sealed(data: bytes) -> bytes:
    """Bytes to keep, with a digest before them that :func:`unsealed` holds them to."""
    return hashlib.blake2b(data, digest_size=16).digest() + data


def unsealed(kept: bytes) -> bytes | None:
    """What was :func:`sealed`; None where it is not what it was."""
    digest, data = kept[:16], kept[16:]
    return data if hashlib.blake2b(data, digest_size=16).digest() == digest else None


def _mode(path: Path) -> int:
    if path.exists():
        return path.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
