"""How Python is started as another process: nothing from the current folder is imported there.

``python -m`` and ``python -c`` put the current folder first on the module path. That folder may be
a stranger's pull request: a ``re.py`` in it would run in each child of ours.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from sglang_contracts.files import scratch_folder

SAFE_PATH: tuple[str, ...] = ("-P",) if sys.version_info >= (3, 11) else ()
"""The switch that keeps the current folder off the module path; Python 3.10 has none: there a
child's folder must be one that we have made."""

_PATHS_OF_PIP = ("PIP_FIND_LINKS", "PIP_CONFIG_FILE", "PIP_CERT", "PIP_CLIENT_CERT", "PIP_LOG")
"""Settings of pip that hold paths, which may be relative to the user's folder."""


def python(*arguments: str) -> list[str]:
    """A command line of the running Python that imports nothing from its own folder.

    ``PYTHON*`` variables hold: with ``PYTHONPATH`` a caller says what else the child may import. On
    Python 3.10 the caller starts it in a folder of its own.
    """
    return [sys.executable, *SAFE_PATH, *arguments]


def closed_python(*arguments: str) -> list[str]:
    """The same without ``PYTHON*`` variables, whose ``PYTHONPATH`` may name the user's folder.

    Packages installed for the user alone stay: pip is often one of them (``-I`` leaves it out).
    """
    return [sys.executable, "-E", *SAFE_PATH, *arguments]


@contextlib.contextmanager
def neutral_folder() -> Iterator[Path]:
    """An empty folder that only this user can write to, to start a child in."""
    with scratch_folder() as folder:
        yield folder


def with_absolute_paths(variables: Mapping[str, str]) -> dict[str, str]:
    """The environment for a pip that is started in another folder: its paths are made absolute."""
    found = dict(variables)
    for name in _PATHS_OF_PIP:
        if name in found:
            # Several paths or addresses are parted by blanks; a path with one is said as a URL.
            parts = found[name].split() if name == "PIP_FIND_LINKS" else [found[name]]
            found[name] = " ".join(
                str(Path(each).absolute()) if Path(each).exists() else each for each in parts
            )
    return found


@contextlib.contextmanager
def pool(jobs: int) -> Iterator[ProcessPoolExecutor]:
    """Processes that share work; forked where that is safe, else started on a safe path.

    A spawned worker (and, from Python 3.14 on, the fork server) starts as ``python -c``: it would
    look for ``multiprocessing`` in the current folder first.
    """
    from multiprocessing import get_context

    if sys.platform.startswith("linux"):
        with ProcessPoolExecutor(jobs, mp_context=get_context("fork")) as workers:
            yield workers
        return
    before = os.environ.get("PYTHONSAFEPATH")
    os.environ["PYTHONSAFEPATH"] = "1"
    try:
        with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as workers:
            yield workers
    finally:
        if before is None:
            del os.environ["PYTHONSAFEPATH"]
        else:
            os.environ["PYTHONSAFEPATH"] = before


def can_share() -> bool:
    """Whether :func:`pool` keeps the current folder out on this system and Python."""
    return sys.platform.startswith("linux") or bool(SAFE_PATH)
