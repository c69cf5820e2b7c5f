"""``matrix``: every recorded release against a plugin."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec

from sglang_contracts.cli import options
from sglang_contracts.cli.check import policy_of
from sglang_contracts.cli.target import open_target

if TYPE_CHECKING:
    from sglang_contracts.verify.findings.finding import Note, Report


@click.command(
    name="matrix",
    epilog=options.examples(
        "sglang-contracts matrix .",
        "sglang-contracts matrix my-plugin --releases '>=0.5.3' --html matrix.html",
        "sglang-contracts matrix --certificates certificates/ --html combinations.html",
    ),
)
@click.argument("plugin", metavar="[PATH|DIST]", required=False)
@click.option(
    "--certificates",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Print instead, as Markdown, which combinations the certificates in this folder are of.",
)
@options.release_options
@click.option(
    "--html",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write a self-contained page to this file as well.",
)
@options.failure_options
@options.plugin_options
@options.index_options
@options.output_options()
def command(
    plugin: str | None,
    certificates: Path | None,
    exact: tuple[str, ...],
    specifiers: tuple[str, ...],
    html: Path | None,
    strict: bool,
    fail_on: str | None,
    exclude: tuple[str, ...],
    config: Path | None,
    may_record: bool,
    online: bool,
    output: options.Output,
) -> int:
    """Every recorded release against a plugin, and the compatible range.

    For each release the verdict and the first break; then the range in which the plugin works, as
    a requirement to paste into its metadata. A release of which nothing is known is never part of
    it. Exit code 1 if any selected release is broken.
    """
    if certificates is not None:
        return _combinations(certificates, html, output)
    if plugin is None:
        raise click.UsageError("name a plugin, or --certificates DIR")
    from sglang_contracts.cli.console import write_file
    from sglang_contracts.cli.index import index_notes
    from sglang_contracts.cli.progress import working
    from sglang_contracts.cli.recording import record_missing
    from sglang_contracts.report import render
    from sglang_contracts.verify.commands.compatible_range import with_range
    from sglang_contracts.verify.commands.releases import select_releases
    from sglang_contracts.verify.findings.policy import select

    target = open_target(plugin, exclude, config)
    catalog = record_missing(exact, options.catalog(), may_record, output.quiet)
    releases = select_releases(catalog.releases, exact, specifiers, everything=True)

    with working(f"checking {plugin} against {len(releases)} releases", output.quiet):
        report = target.check(catalog, releases)
    notes = index_notes(catalog, online, output.quiet)
    report = msgspec.structs.replace(report, notes=(*report.notes, *notes))
    policy = policy_of(
        target,
        fail_on=fail_on or target.settings.fail_on or "error",
        strict=strict or target.settings.strict,
    )
    outcome = select(report, policy, lambda: target.check(catalog, catalog.releases))
    result = with_range(
        msgspec.structs.replace(outcome.report, command="matrix"),
        options.existing_releases(catalog.releases),
    )
    result = msgspec.structs.replace(
        result, notes=(*result.notes, *_claims(result, target.settings.supported))
    )
    if html is not None:
        write_file(html, render(result, "html"))
    output.emit(result)
    return outcome.exit_code


def _combinations(folder: Path, html: Path | None, output: options.Output) -> int:
    """Print the table of certified combinations; 1 where a certificate cannot be relied on."""
    from sglang_contracts.certify import combinations as table
    from sglang_contracts.cli.console import say, write, write_file
    from sglang_contracts.inert import harmless, no_log_commands

    found, said = table.combinations(folder)
    if output.format == "json":
        text = msgspec.json.format(msgspec.json.encode({"schema": 1, "combinations": found}))
        write(text.decode(), output.file)
    else:
        write(no_log_commands(harmless(table.markdown(found))), output.file)
    if html is not None:
        write_file(html, table.html(found))
    for each in said:
        say(f"not counted: {each}", err=True)
    return int(bool(said))


def _claims(report: Report, supported: str) -> tuple[Note, ...]:
    """That the settings claim releases which are not compatible."""
    from packaging.specifiers import SpecifierSet

    from sglang_contracts.verify.findings.finding import Note, Verdict

    if not supported:
        return ()
    claimed = SpecifierSet(supported)
    wrong = [
        f"{entry.release} ({entry.verdict.value})"
        for entry in report.releases
        if entry.verdict is not Verdict.COMPATIBLE
        and claimed.contains(entry.release, prereleases=True)
    ]
    if not wrong:
        return ()
    text = f"the settings claim {supported}, which holds {', '.join(wrong)}"
    return (Note(text, hint="narrow 'supported', or mend these"),)
