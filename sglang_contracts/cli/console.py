"""Where text goes: colour or not, how wide, to a file or to stdout."""

from __future__ import annotations

import errno
import os
import shutil
import sys
from pathlib import Path
from typing import IO, Any

from sglang_contracts.errors import ContractsError
from sglang_contracts.files import write_atomically
from sglang_contracts.inert import harmless, no_log_commands

PLAIN_WIDTH = 100
"""Columns where the output is no terminal."""


def say(text: str, err: bool = False) -> None:
    """Print lines that others' words are part of: nothing in them steers a terminal or a CI log."""
    import click

    click.echo(no_log_commands(harmless(text)), err=err)


def wants_color(stream: IO[Any], choice: str) -> bool:
    """Whether to colour what goes to ``stream``.

    Args:
        stream: Where it goes.
        choice: ``auto``, ``always`` or ``never``. Under ``auto``: on a terminal that is not dumb,
            and only if ``NO_COLOR`` is unset or empty (no-color.org).
    """
    if choice != "auto":
        return choice == "always"
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return stream.isatty()


def width(stream: IO[Any]) -> int:
    """Columns for text on ``stream``: the terminal's (40 to 160), else :data:`PLAIN_WIDTH`."""
    if not stream.isatty():
        return PLAIN_WIDTH
    return max(40, min(160, shutil.get_terminal_size((PLAIN_WIDTH, 24)).columns))


def write(text: str, output: Path | None) -> None:
    """Print ``text``, or write it to a file whole or not at all.

    Raises:
        ContractsError: If the file cannot be written.
    """
    if output is None:
        if sys.stdout.encoding and sys.stdout.encoding.lower().replace("-", "") != "utf8":
            text = text.encode(sys.stdout.encoding, "replace").decode(sys.stdout.encoding)
        sys.stdout.write(text if text.endswith("\n") or not text else text + "\n")
        sys.stdout.flush()
        return
    write_file(output, text if text.endswith("\n") else text + "\n")


def write_file(path: Path, text: str) -> None:
    """Write ``text`` to ``path`` as UTF-8 through a temporary file beside it.

    Raises:
        ContractsError: If ``path`` is a folder, its folder is missing, or it cannot be written.
    """
    try:
        path.stat()
    except OSError as error:
        if error.errno == errno.ELOOP:  # resolve() raises before Python 3.13 and is silent since
            raise ContractsError(
                f"{path} is a symbolic link that leads to itself", "remove it, or name another file"
            ) from None
    path = path.resolve()
    if path.exists() and not path.is_file() and not path.is_dir():
        with path.open("w", encoding="utf-8") as device:  # /dev/stdout, a named pipe
            device.write(text)
        return
    if path.is_dir():
        raise ContractsError(f"{path} is a folder, not a file", "name a file to write to")
    folder = path.parent
    if not folder.is_dir():
        raise ContractsError(f"the folder {folder} does not exist", f"mkdir -p {folder}")
    write_atomically(path, text.encode(), "choose another --output")
