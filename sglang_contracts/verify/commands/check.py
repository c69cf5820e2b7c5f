"""A plugin against releases: the entry points of the static check."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from sglang_contracts.plugin.plugin import Opened, open_plugin
from sglang_contracts.verify.commands.analysis import (
    Analysis,
    unloaded_note,
)
from sglang_contracts.verify.findings.cache import Result, key_of, load, save
from sglang_contracts.verify.findings.finding import PluginInfo, Report

if TYPE_CHECKING:
    from sglang_contracts.contract import Contract
    from sglang_contracts.surface import Catalog


def check_plugin(
    root: Path | str,
    catalog: Catalog,
    releases: Sequence[str],
    *,
    exclude: Sequence[str] = (),
    known_as: Mapping[str, str] | None = None,
    contracts: Sequence[Contract] | None = None,
) -> Report:
    """What a plugin relies on, held against releases.

    Args:
        root: A source tree, a ``.py`` file, a wheel, or the name of an installed distribution.
        catalog: The recorded releases; all of them serve as history.
        releases: Those to report on, in the order of the report.
        exclude: Globs, relative to the root, of files to leave out.
        known_as: Further conventional names of objects: name -> ``module:Class``.
        contracts: The contracts whose notes, names and obligations count; None: those shipped.

    Returns:
        One :class:`ReleaseReport` a release. ``facts`` has ``files`` and ``uses`` (counts).

    Raises:
        ContractsError: Nothing to check there, or an unknown release.
    """
    known = [catalog.known(release) for release in releases]
    opened = open_plugin(root, exclude)
    if contracts is not None:
        analysis = Analysis(
            opened.extract(), catalog, wanted=known, known_as=known_as, contracts=contracts
        )
        return analysis.report("check", known)
    return _report("check", _result(opened, catalog, known, known_as or {}), known)


def _result(
    opened: Opened, catalog: Catalog, known: Sequence[str], known_as: Mapping[str, str]
) -> Result:
    """What is known of a plugin in some releases: from the cache, else worked out and kept."""
    key = key_of(opened.digest, catalog, known_as)
    held = load(key)
    missing = [each for each in known if held is None or each not in held.releases]
    if held is not None and not missing:
        return held
    analysis = Analysis(opened.extract(), catalog, wanted=missing, known_as=known_as)
    report = analysis.report("check", missing)
    made = Result(
        report.plugin or PluginInfo("", "", ""),
        len(analysis.plugin.files),
        analysis.plugin.uses,
        analysis.notes(),
        {**(held.releases if held else {}), **{each.release: each for each in report.releases}},
        tuple(
            release for index, release in enumerate(catalog.releases) if not analysis.loads(index)
        ),
    )
    if not any(file.transient for file in analysis.plugin.files):
        save(key, made)
    return made


def _report(command: str, result: Result, releases: Sequence[str]) -> Report:
    """The report of a command from what is known."""
    return Report(
        command,
        tuple(result.releases[release] for release in releases),
        result.plugin,
        (*result.notes, *unloaded_note([r for r in releases if r in result.unloaded])),
        {"files": result.files, "uses": result.uses},
    )


def matrix_report(
    root: Path | str,
    catalog: Catalog,
    *,
    exclude: Sequence[str] = (),
    known_as: Mapping[str, str] | None = None,
    contracts: Sequence[Contract] | None = None,
) -> Report:
    """:func:`check_plugin` over every recorded release; the command is ``matrix``."""
    report = check_plugin(
        root, catalog, catalog.releases, exclude=exclude, known_as=known_as, contracts=contracts
    )
    return msgspec.structs.replace(report, command="matrix")
