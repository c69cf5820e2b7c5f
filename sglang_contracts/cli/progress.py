"""What a person sees on stderr while something takes long."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator


@contextlib.contextmanager
def working(text: str, quiet: bool = False) -> Iterator[None]:
    """Show that something is being done: a spinner on a terminal, nothing elsewhere."""
    if quiet or not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(text):
        yield
