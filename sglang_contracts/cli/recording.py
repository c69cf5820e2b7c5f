"""Recording releases on the way of another command, or as the command itself."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sglang_contracts.errors import ContractsError

if TYPE_CHECKING:
    from sglang_contracts.surface import Catalog
    from sglang_contracts.surface.record import Recorded


def record_one(
    spec: str, catalog: Catalog, *, folder: Path | None = None, force: bool = False, quiet: bool
) -> Recorded:
    """Record a release or a wheel, with a progress bar where a person looks on."""
    from sglang_contracts.cli.progress import steps
    from sglang_contracts.surface.record import record

    jobs = max(1, min(8, os.cpu_count() or 1))
    with steps(f"recording {Path(spec).name}", quiet) as progress:
        return record(spec, catalog, folder=folder, force=force, jobs=jobs, progress=progress)


def record_missing(exact: Sequence[str], catalog: Catalog, allowed: bool, quiet: bool) -> Catalog:
    """The catalog with the releases named one by one: an unknown one is recorded if wanted.

    Args:
        exact: Releases as the user wrote them.
        catalog: What is recorded.
        allowed: The user said so (``--record``); else a person at a terminal is asked.
        quiet: No progress, and nobody is asked.

    Raises:
        ContractsError: A release could not be recorded.
    """
    from packaging.version import Version

    from sglang_contracts.surface import load_catalog

    known = {Version(release) for release in catalog.releases}
    changed = False
    for text in exact:
        try:
            version = Version(text.strip())
        except ValueError:  # InvalidVersion, or more digits than Python reads
            continue  # said, with a hint, when it is looked up
        if version in known:
            continue
        if not allowed and (quiet or not _wanted(text)):
            continue
        if version.is_prerelease or version.local:
            raise ContractsError(
                f"SGLang {text} is no final or post release", "only those are recorded"
            )
        record_one(str(version), catalog, quiet=quiet)
        changed = True
    return load_catalog() if changed else catalog


def update_roster(catalog: Catalog, failures: Mapping[str, str]) -> None:
    """Write the checkout's list of releases anew.

    Args:
        catalog: With what has just been recorded.
        failures: Releases that the index has and that could not be recorded → the reason. If
            the index has been asked today its date is written, else the old one stays.
    """
    import datetime

    from sglang_contracts.cli.index import remembered_index
    from sglang_contracts.surface.roster import Missing, load_roster, write_roster

    path = catalog.shipped.parent / "releases.toml"
    roster = load_roster(path) if path.is_file() else None
    today = datetime.date.today()
    index = remembered_index()
    asked_today = index is not None and index.asked == today
    checked = today.isoformat() if asked_today or roster is None else roster.checked
    reasons = {each.version: each.reason for each in roster.missing} if roster else {}
    reasons |= failures
    missing = tuple(
        Missing(release, reason)
        for release, reason in sorted(reasons.items())
        if release not in catalog.releases
    )
    write_roster(catalog, checked, missing, path)


def _wanted(release: str) -> bool:
    """Ask a person; where none is there the answer is no."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    return click.confirm(
        f"SGLang {release} is not recorded. Fetch its wheel with pip and record it in your cache?",
        err=True,
    )
