"""``upgrade``: the dossier for moving a plugin from one release to another."""

from __future__ import annotations

from pathlib import Path

import click

from sglang_contracts.cli import options
from sglang_contracts.cli.check import policy_of
from sglang_contracts.cli.target import open_target


@click.command(
    name="upgrade",
    epilog=options.examples(
        "sglang-contracts upgrade . --from 0.5.12 --to 0.5.16",
        "sglang-contracts upgrade . --from 0.5.12 --to 0.5.23 --format markdown -o upgrade.md",
    ),
)
@click.argument("plugin", metavar="PATH|DIST")
@click.option("--from", "old", required=True, metavar="V", help="The release it works with now.")
@click.option("--to", "new", required=True, metavar="W", help="The release it shall work with.")
@options.failure_options
@options.plugin_options
@options.output_options()
def command(
    plugin: str,
    old: str,
    new: str,
    strict: bool,
    fail_on: str | None,
    exclude: tuple[str, ...],
    config: Path | None,
    output: options.Output,
) -> int:
    """The dossier for moving a plugin from one release to another.

    The verdict; each edit in order of file and line, with the old and the new form; which single
    form covers several releases at once; which workarounds became needless.
    """
    from sglang_contracts.cli.progress import working
    from sglang_contracts.errors import ContractsError
    from sglang_contracts.verify import upgrade_report
    from sglang_contracts.verify.commands.releases import find_release
    from sglang_contracts.verify.findings.policy import select

    target = open_target(plugin, exclude, config)
    catalog = options.catalog()
    start, end = find_release(old, catalog.releases), find_release(new, catalog.releases)
    if start == end:
        raise ContractsError(f"--from and --to are both {start}", "name two releases")
    with working(f"comparing {start} and {end} for {plugin}", output.quiet):
        report = upgrade_report(target.root, catalog, start, end, **target.engine_options)
    policy = policy_of(
        target,
        fail_on=fail_on or target.settings.fail_on or "error",
        strict=strict or target.settings.strict,
    )
    outcome = select(report, policy, lambda: target.check(catalog, catalog.releases))
    output.emit(outcome.report)
    return outcome.exit_code
