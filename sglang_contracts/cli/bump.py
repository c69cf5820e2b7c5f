"""``bump``: what a new release changes, in one go."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from sglang_contracts.cli import options

if TYPE_CHECKING:
    from sglang_contracts.surface import Catalog
    from sglang_contracts.verify.findings.finding import Finding, Report


@click.command(
    name="bump",
    epilog=options.examples(
        "sglang-contracts bump 0.5.24",
        "sglang-contracts bump 0.5.24 path/to/plugin another/plugin --format markdown",
    ),
)
@click.argument("release", metavar="V|WHEEL")
@click.argument("plugins", nargs=-1, metavar="[PLUGIN...]")
@click.option(
    "--into",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Folder of recorded releases to write to.  [default: your cache]",
)
@options.failure_options
@options.output_options()
def command(
    release: str,
    plugins: tuple[str, ...],
    into: Path | None,
    strict: bool,
    fail_on: str | None,
    output: options.Output,
) -> int:
    """Record a new release, verify, diff, and check known plugins.

    Plugins are those named, else this folder and those right below it that have
    [tool.sglang-contracts] settings. Wrong ranges of contracts come with the right ones; `verify
    --propose` writes them. Exit code 1 if a contract is wrong or a plugin breaks.
    """
    import msgspec

    from sglang_contracts.cli.progress import working
    from sglang_contracts.cli.recording import record_one
    from sglang_contracts.contract import load_contracts
    from sglang_contracts.surface import load_catalog
    from sglang_contracts.verify.clauses.diff import diff
    from sglang_contracts.verify.clauses.verify_clauses import verify_contracts
    from sglang_contracts.verify.findings.finding import ReleaseReport, Report, Severity, Verdict
    from sglang_contracts.verify.findings.policy import exit_code

    recorded = record_one(release, options.catalog(), folder=into, quiet=output.quiet)
    catalog = load_catalog(into) if into is not None else options.catalog()
    new = recorded.release
    position = catalog.releases.index(new)
    previous = catalog.releases[position - 1] if position else None
    contracts = load_contracts()
    with working(f"holding everything against {new}", output.quiet):
        verified = verify_contracts(contracts, catalog, [new])
        changes = diff(contracts, catalog, previous, new) if previous else None
        checked = [_check(name, catalog, new) for name in plugins or _known_plugins(Path())]
    findings = [finding for entry in verified.releases for finding in entry.findings]
    summary, notes = [], list(verified.notes)
    for name, report in checked:
        found = [f for entry in report.releases for f in entry.findings]
        findings += [_below(name, finding) for finding in found]
        notes += [
            msgspec.structs.replace(note, text=f"{name}: {note.text}") for note in report.notes
        ]
        summary.append(
            {
                "plugin": name,
                "verdict": report.releases[0].verdict.value,
                "errors": sum(f.severity is Severity.ERROR for f in found),
                "warnings": sum(f.severity is Severity.WARNING for f in found),
            }
        )
    broken = any(finding.severity is Severity.ERROR for finding in findings)
    unknown = any(r.releases[0].verdict is Verdict.UNKNOWN for _, r in checked)
    verdict = Verdict.BROKEN if broken else Verdict.UNKNOWN if unknown else Verdict.COMPATIBLE
    facts: dict[str, object] = {
        "recorded": {"release": new, "modules": recorded.modules, "fresh": recorded.fresh},
        "previous": previous,
        "clauses": verified.facts.get("clauses", 0),
        "wrong": sum(len(entry.findings) for entry in verified.releases),
        "proposals": verified.facts.get("proposals", []),
        "differences": _differences(changes),
        "plugins": summary,
    }
    result = Report(
        "bump", (ReleaseReport(new, verdict, tuple(findings)),), notes=tuple(notes), facts=facts
    )
    output.emit(result)
    return exit_code(result, fail_on or "error", strict)


def _known_plugins(folder: Path) -> list[str]:
    """This folder and those right below it that have settings of ours."""
    candidates = [folder, *sorted(each for each in folder.iterdir() if each.is_dir())]
    found = []
    for each in candidates:
        file = each / "pyproject.toml"
        if file.is_file() and "[tool.sglang-contracts" in file.read_text("utf-8", "replace"):
            found.append(str(each))
    return found


def _check(name: str, catalog: Catalog, release: str) -> tuple[str, Report]:
    """One plugin against the release, with its own settings."""
    from sglang_contracts.cli.check import policy_of
    from sglang_contracts.cli.target import open_target
    from sglang_contracts.verify.findings.policy import select

    target = open_target(name)
    report = target.check(catalog, [release])
    outcome = select(report, policy_of(target), lambda: target.check(catalog, catalog.releases))
    return name, outcome.report


def _below(name: str, finding: Finding) -> Finding:
    """The finding with its places below the plugin's path."""
    import msgspec

    places = tuple(
        msgspec.structs.replace(place, file=(Path(name) / place.file).as_posix())
        for place in finding.locations
    )
    return msgspec.structs.replace(finding, locations=places)


def _differences(changes: Report | None) -> list[dict[str, str]]:
    """What differs from the release before, as plain values."""
    if changes is None:
        return []
    return [
        {"rule": finding.rule, "symbol": finding.symbol, "old": finding.old, "new": finding.new}
        for entry in changes.releases
        for finding in entry.findings
    ]
