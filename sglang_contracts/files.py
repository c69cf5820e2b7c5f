"""Writing files so that nobody ever sees half of one."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from sglang_contracts.errors import ContractsError


def write_atomically(path: Path, data: bytes) -> None:
    """Write a file so that a reader, or a second writer, never sees half of it.

    Raises:
        ContractsError: The place cannot be written to; nothing was changed.
    """
    temporary = ""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
        Path(temporary).chmod(0o644)  # mkstemp's 0600 would hide a shared cache from its readers
        os.replace(temporary, path)  # noqa: PTH105 - the one call that is atomic everywhere
    except OSError as error:
        if temporary:
            Path(temporary).unlink(missing_ok=True)
        raise ContractsError(
            f"cannot write {path}: {error.strerror or error}",
            "set SGLANG_CONTRACTS_CACHE to a folder that can be written to",
        ) from None
