"""What a person sees on stderr while something takes long."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator

from sglang_contracts.inert import one_line


@contextlib.contextmanager
def working(text: str, quiet: bool = False) -> Iterator[None]:
    """Show that something is being done: a spinner on a terminal, nothing elsewhere."""
    if quiet or not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(_plain(text)):
        yield


def _plain(text: str) -> str:
    """Text that rich shows as it is: a name may look like its markup (``[red]``)."""
    from rich.markup import escape

    return escape(one_line(text))


EVERY = 5.0
"""Seconds between two lines of progress where there is no terminal."""


def lines(text: str) -> Callable[[int, int], None]:
    """Progress in a log: a line on stderr every :data:`EVERY` seconds, none if it is over before.

    Returns:
        What is told how many steps are done, of how many.
    """
    told = time.monotonic()

    def step(done: int, total: int) -> None:
        nonlocal told
        now = time.monotonic()
        if now - told >= EVERY:
            told = now
            print(f"{one_line(text)}: {done} of {total}", file=sys.stderr, flush=True)

    return step


@contextlib.contextmanager
def steps(text: str, quiet: bool = False) -> Iterator[Callable[[int, int], None] | None]:
    """A bar on a terminal, fed by the function that this gives; None elsewhere."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(_plain(text), total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
