"""Reading files that end, and writing them so that nobody ever sees half of one."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from sglang_contracts.errors import ContractsError

PARTIAL = ".partial"
"""What the name of a file that is being written ends in, until it takes its own."""

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


def read_own(path: Path, limit: int) -> bytes:
    """The bytes of a file that nobody but ourselves should have written: a link is not followed.

    Raises:
        OSError: It is a link, a pipe or a device, holds more than ``limit`` bytes, or cannot be
            read.
    """
    # Looked at once it is open: between a look and the opening it could become another.
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    handle = os.open(path, flags | getattr(os, "O_BINARY", 0))
    with os.fdopen(handle, "rb") as stream:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "is no regular file", str(path))
        if status.st_size > limit:
            raise OSError(errno.EFBIG, "is too large", str(path))
        return stream.read(limit)


def write_atomically(
    path: Path, data: bytes, hint: str = CACHE_HINT, *, durable: bool = True
) -> None:
    """Write a file so that a reader, or a second writer, never sees half of it.

    Folders above it are made. It keeps the mode it had; a new one gets that of any new file. What
    a run that was killed has left half-written under this name is removed.

    Args:
        path: Where to.
        data: What.
        hint: What to do where it cannot be written.
        durable: Wait until the disk has it: else a power failure may leave an empty file.

    Raises:
        ContractsError: The place cannot be written to; nothing was changed.
    """
    temporary, beginning = "", f".{path.name[:40]}."
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(suffix=PARTIAL, prefix=beginning, dir=path.parent)
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
            if durable:
                stream.flush()
                os.fsync(stream.fileno())
        Path(temporary).chmod(_mode(path))  # mkstemp's 0600 would hide it from other readers
        os.replace(temporary, path)  # noqa: PTH105 - the one call that is atomic everywhere
    except BaseException as error:  # Ctrl-C leaves nothing half-written either
        if temporary:
            with contextlib.suppress(OSError):
                Path(temporary).unlink(missing_ok=True)
        if not isinstance(error, OSError):
            raise
        raise ContractsError(f"cannot write {path}: {error.strerror or error}", hint) from None
    if durable:
        _sweep_partial(path.parent, beginning)


STALE = 3600
"""Seconds after which a half-written file is nobody's: the run that wrote it was killed."""


def _sweep_partial(folder: Path, beginning: str) -> None:
    """Remove what killed runs have left of a file that is whole now."""
    with contextlib.suppress(OSError), os.scandir(folder) as found:
        for each in found:
            if each.name.startswith(beginning) and each.name.endswith(PARTIAL):
                with contextlib.suppress(OSError):
                    if time.time() - each.stat(follow_symlinks=False).st_mtime > STALE:
                        os.unlink(each.path)  # noqa: PTH108 - an entry of scandir


_SCRATCH = "sglang-contracts-"
_LOCK = ".lock"


@contextlib.contextmanager
def scratch_folder() -> Iterator[Path]:
    """An empty folder of this run's own, removed with all that is in it.

    A run that is killed leaves its folder behind: the next one removes those that nobody holds.
    """
    _sweep_scratch(Path(tempfile.gettempdir()))
    with tempfile.TemporaryDirectory(prefix=_SCRATCH) as name:
        folder = Path(name)
        with (folder / _LOCK).open("wb") as lock:
            _hold(lock.fileno())
            inner = folder / "work"
            inner.mkdir()
            yield inner


def _hold(handle: int) -> bool:
    """Lock an open file for as long as this process lives; False: another process holds it."""
    try:
        import fcntl
    except ImportError:  # Windows: nothing is swept there
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _sweep_scratch(where: Path) -> None:
    """Remove scratch folders of runs that were killed: their locks are free."""
    with contextlib.suppress(OSError):
        for lock in where.glob(f"{_SCRATCH}*/{_LOCK}"):
            with contextlib.suppress(OSError):
                _remove_left(lock)


def _remove_left(lock: Path) -> None:
    status = lock.parent.lstat()
    own = not hasattr(os, "getuid") or status.st_uid == os.getuid()
    if not own or not stat.S_ISDIR(status.st_mode):
        return
    if time.time() - status.st_mtime < _YOUNG:  # it may be about to be locked
        return
    handle = os.open(lock, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0))
    try:
        if _hold(handle):
            shutil.rmtree(lock.parent, ignore_errors=True)
    finally:
        os.close(handle)


_YOUNG = 60
"""Seconds for which a folder is left alone whether or not it is locked."""


def _mode(path: Path) -> int:
    if path.exists():
        return path.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
