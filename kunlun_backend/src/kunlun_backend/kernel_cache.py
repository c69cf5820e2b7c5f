"""Where compiled kernels are kept: one fixed directory, checked before the first kernel.

A cache that cannot be written compiles the same kernels again at every start, which shows only
as a log full of compilations; one that others can write lets them run code here.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

ENVIRONMENT = "KUNLUN_KERNEL_CACHE"
DEFAULT = Path("~/.cache/kunlun/kernels")


class KernelCacheError(RuntimeError):
    """The kernel cache cannot be used; the message says why and what to do."""


def prepare(directory: Path | None = None) -> Path:
    """Make the directory (by default what `KUNLUN_KERNEL_CACHE` names) and hold it to its rules.

    Raises:
        KernelCacheError: It breaks one of them; the message says which and what to do.
    """
    path = directory or Path(os.environ.get(ENVIRONMENT) or DEFAULT)
    path = path.expanduser().absolute()
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = path.stat()
    except OSError as error:
        raise _error(path, f"cannot be made ({error.strerror})") from error
    if status.st_uid != os.getuid():
        raise _error(path, "belongs to another user")
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise _error(path, f"can be written by others (mode {stat.S_IMODE(status.st_mode):o})")
    if not os.access(path, os.R_OK | os.W_OK | os.X_OK):
        raise _error(path, "cannot be written by this process")
    os.environ[ENVIRONMENT] = str(path)
    return path


def _error(path: Path, fault: str) -> KernelCacheError:
    return KernelCacheError(
        f"The kernel cache {path} {fault}. Make it a directory of mode 700 that belongs to the "
        f"serving user, or name another in {ENVIRONMENT}."
    )
