"""Reads the text of a contract file, bounded in size."""

from __future__ import annotations

from pathlib import Path

from sglang_contracts.errors import ContractsError

MAX_BYTES = 1_000_000
"""Largest contract file."""


def read_text(path: Path) -> str:
    """The text of a contract file, bounded in size.

    Raises:
        ContractsError: It cannot be read, is too large, or is not UTF-8.
    """
    try:
        if path.stat().st_size > MAX_BYTES:
            raise ContractsError(
                f"{path.name}: larger than {MAX_BYTES} bytes", "split the contract"
            )
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise ContractsError(f"{path.name}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise ContractsError(
            f"{path.name}: byte {error.start} is not UTF-8", "save the file as UTF-8"
        ) from None
