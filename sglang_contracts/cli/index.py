"""Which releases the index has: asked on demand, remembered for commands that never ask."""

from __future__ import annotations

import contextlib
import datetime
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from sglang_contracts import paths
from sglang_contracts.errors import ContractsError
from sglang_contracts.files import read_own

if TYPE_CHECKING:
    from sglang_contracts.surface import Catalog
    from sglang_contracts.verify.findings.finding import Note


class Index(msgspec.Struct, frozen=True):
    """What the index had when it was asked."""

    asked: datetime.date
    releases: tuple[str, ...]


def _file() -> Path:
    return paths.cache() / "index.json"


def ask_index() -> Index:
    """Ask the index through the user's own pip, and remember the answer.

    Raises:
        ContractsError: It cannot be asked.
    """
    from sglang_contracts.files import write_atomically
    from sglang_contracts.surface.obtain import available

    found = Index(datetime.date.today(), available())
    with contextlib.suppress(ContractsError, OSError):  # a sealed cache costs the memory only
        write_atomically(_file(), msgspec.json.encode(found))
    return found


def remembered_index() -> Index | None:
    """What the index had when it was last asked; None: never, or it cannot be read."""
    try:
        return msgspec.json.decode(read_own(_file(), 2**20), type=Index)
    except (OSError, msgspec.MsgspecError):
        return None


def beyond(index: Index, recorded: Sequence[str]) -> list[str]:
    """Releases that the index had and that are not recorded, ascending."""
    from packaging.version import InvalidVersion, Version

    known = {Version(release) for release in recorded}
    found = []
    for release in index.releases:
        with contextlib.suppress(InvalidVersion):
            if Version(release) not in known:
                found.append(release)
    return sorted(found, key=Version)


def index_notes(catalog: Catalog, online: bool, quiet: bool) -> tuple[Note, ...]:
    """Releases beyond those recorded, and recorded ones that cannot be read; each with the fix.

    Without ``online`` only what is remembered counts: a static command never needs a network.
    """
    from sglang_contracts.cli.progress import working
    from sglang_contracts.verify.findings.finding import Note

    notes = [
        Note(f"{error.message}: nothing is known of that release", hint=error.hint)
        for error in catalog.damaged
    ]
    index = remembered_index()
    if online:
        try:
            with working("asking the index", quiet):
                index = ask_index()
        except ContractsError as error:
            notes.append(Note(error.message, hint=error.hint))
    missing = beyond(index, catalog.releases) if index is not None else []
    if missing:
        count = "a release" if len(missing) == 1 else f"{len(missing)} releases"
        notes.append(
            Note(
                f"the index has {count} beyond those recorded: {', '.join(missing)}",
                hint=f"sglang-contracts record {' '.join(missing)}",
            )
        )
    return tuple(notes)
