"""``check``: a plugin's uses of SGLang against releases."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from sglang_contracts.cli import options
from sglang_contracts.cli.target import Target, open_target, rule_names

if TYPE_CHECKING:
    from sglang_contracts.verify.findings.baseline import Baseline
    from sglang_contracts.verify.findings.finding import ReleaseReport, Report
    from sglang_contracts.verify.findings.policy import Policy


@click.command(
    name="check",
    epilog=options.examples(
        "sglang-contracts check .                      the releases you support, and the newest",
        "sglang-contracts check . --release 0.5.23",
        "sglang-contracts check my_plugin.whl --releases '>=0.5.12'",
        "sglang-contracts check . --release 0.5.23 --baseline 0.5.20    only what 0.5.23 adds",
        "sglang-contracts check . --show-silenced      what was found and is not reported, and why",
        "sglang-contracts check . --format github      annotations in a pull request",
    ),
)
@click.argument("plugin", metavar="PATH|DIST")
@options.release_options
@click.option("--baseline", "base", metavar="V", help="Hide findings that are there in V already.")
@click.option(
    "--baseline-file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Hide the findings in this file; an entry that matches nothing fails.",
)
@click.option(
    "--write-baseline",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write all errors and warnings to this file, for --baseline-file.",
)
@click.option(
    "--show-silenced",
    is_flag=True,
    help="List what was found and is not reported, with the reason (explain ID).",
)
@click.option("--only-new", is_flag=True, help="Only findings that a release is the first to have.")
@options.failure_options
@options.plugin_options
@options.index_options
@options.output_options()
def command(
    plugin: str,
    exact: tuple[str, ...],
    specifiers: tuple[str, ...],
    base: str | None,
    baseline_file: Path | None,
    write_baseline: Path | None,
    show_silenced: bool,
    only_new: bool,
    strict: bool,
    fail_on: str | None,
    exclude: tuple[str, ...],
    config: Path | None,
    may_record: bool,
    online: bool,
    output: options.Output,
) -> int:
    """Check a plugin's uses of SGLang against releases.

    PATH is a source tree, a .py file or a wheel, DIST the name of an installed distribution.
    Nothing of it is imported, nor of SGLang. Without --release or --releases: the releases that
    the plugin's settings name as supported, else those that its own requirement on SGLang claims
    (dependencies, an extra, Requires-Dist, a pin), and the newest recorded one; where nothing says
    which, the newest ten minors (X.Y.Z) with their post releases.
    """
    from sglang_contracts.cli.index import index_notes
    from sglang_contracts.cli.progress import working
    from sglang_contracts.cli.recording import record_missing
    from sglang_contracts.verify.commands.releases import find_release, select_releases
    from sglang_contracts.verify.findings.policy import select

    target = open_target(plugin, exclude, config)
    catalog = record_missing(exact, options.catalog(), may_record, output.quiet)
    releases = select_releases(
        catalog.releases, exact, specifiers, target.settings.supported, claim=target.claim
    )
    asked = list(releases)
    base_release = find_release(base, catalog.releases) if base is not None else None
    if base_release and base_release not in asked:
        asked.append(base_release)
    with working(f"checking {plugin} against {len(asked)} releases", output.quiet):
        report = target.check(catalog, asked)
    base_report = next((e for e in report.releases if e.release == base_release), None)
    if base_release and base_release not in releases:
        kept = tuple(entry for entry in report.releases if entry.release != base_release)
        report = msgspec.structs.replace(report, releases=kept)

    def everywhere() -> Report:
        return target.check(catalog, catalog.releases)

    policy = _policy(target, base_report, baseline_file, only_new, strict, fail_on)
    if write_baseline is not None:
        return _write_baseline(write_baseline, report, policy)
    notes = index_notes(catalog, online, output.quiet)
    chosen = () if exact or specifiers else target.chosen_by(catalog.releases)
    report = msgspec.structs.replace(report, notes=(*report.notes, *notes, *chosen))
    outcome = select(report, policy, everywhere)
    output.emit(outcome.report, show_silenced)
    return outcome.exit_code


def _policy(
    target: Target,
    base: ReleaseReport | None,
    baseline_file: Path | None,
    only_new: bool,
    strict: bool,
    fail_on: str | None,
) -> Policy:
    """What the settings, the comments and the options say about findings."""
    settings = target.settings
    if baseline_file is None and settings.baseline:
        baseline_file = Path(settings.file).parent / settings.baseline
    return policy_of(
        target,
        baseline=_entries(baseline_file),
        baseline_name=str(baseline_file),
        baseline_release=base,
        only_new=only_new,
        fail_on=fail_on or settings.fail_on or "error",
        strict=strict or settings.strict,
    )


def policy_of(target: Target, **others: Any) -> Policy:
    """The policy of a plugin's settings and comments, and what else is given."""
    from sglang_contracts.verify.findings.policy import Policy

    return Policy(
        accept=target.settings.accept,
        ignores=target.ignores(),
        settings_file=target.settings_file,
        rules=rule_names(),
        **others,
    )


def _entries(path: Path | None) -> Any:
    if path is None:
        return None
    from sglang_contracts.verify.findings.baseline import load_baseline

    baseline: Baseline = load_baseline(path)
    return baseline.entries


def _write_baseline(path: Path, report: Report, policy: Policy) -> int:
    """Write what is found, less what is accepted and ignored, as a baseline."""
    import dataclasses

    from sglang_contracts import __version__
    from sglang_contracts.cli.console import say, write_file
    from sglang_contracts.verify.findings.baseline import baseline_of, baseline_text
    from sglang_contracts.verify.findings.policy import select

    judged = select(report, dataclasses.replace(policy, baseline=None, only_new=False))
    baseline = baseline_of(judged.report, f"sglang-contracts {__version__}")
    write_file(path, baseline_text(baseline))
    say(f"{path}: {len(baseline.entries)} places", err=True)
    return 0
