"""Whether a plugin can move to a release: the content of ``can-upgrade``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from packaging.specifiers import SpecifierSet
from packaging.version import Version

from sglang_contracts.plugin.plugin import load_plugin
from sglang_contracts.verify.commands.analysis import Analysis
from sglang_contracts.verify.commands.used_surface import changed_forms, used_forms
from sglang_contracts.verify.commands.uses import inventory, uses_in
from sglang_contracts.verify.findings.finding import Report, Verdict

if TYPE_CHECKING:
    from sglang_contracts.surface import Catalog

ANSWERS = {Verdict.COMPATIBLE: "yes", Verdict.BROKEN: "no", Verdict.UNKNOWN: "unknown"}
"""Verdict of the release → what ``can-upgrade`` answers."""


def used_changes(
    root: Path | str,
    catalog: Catalog,
    old: str,
    new: str,
    *,
    exclude: Sequence[str] = (),
    known_as: Mapping[str, str] | None = None,
) -> tuple[tuple[str, ...], int]:
    """What a plugin uses and that is recorded differently in two releases.

    Returns:
        The symbols, sorted, and how many it uses in both together.
    """
    analysis = Analysis(
        load_plugin(root, exclude), catalog, wanted=[old, new], known_as=known_as, history=False
    )
    before, after = (
        used_forms(uses_in(inventory(analysis, release)), catalog.surface(release))
        for release in (old, new)
    )
    return changed_forms(before, after), len({*before, *after})


def starting_release(report: Report, new: str, supported: str) -> str | None:
    """The release to compare with: the newest older one that the plugin works with.

    Args:
        report: The plugin over all recorded releases, before or after its policy.
        new: The release it is to move to.
        supported: What the settings claim (a specifier, or empty): a compatible one among those
            comes first.

    Returns:
        None where it works with no older release.
    """
    older = [
        entry.release
        for entry in report.releases
        if Version(entry.release) < Version(new) and entry.verdict is Verdict.COMPATIBLE
    ]
    claimed = SpecifierSet(supported)
    held = [each for each in older if claimed.contains(each, prereleases=True)]
    return max(held or older, key=Version, default=None)
