"""Writing files so that nobody ever sees half of one."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from sglang_contracts.errors import ContractsError

CACHE_HINT = "set SGLANG_CONTRACTS_CACHE to a folder that can be written to"


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


def _mode(path: Path) -> int:
    if path.exists():
        return path.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
