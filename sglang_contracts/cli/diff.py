"""``diff``: what changed between two releases."""

from __future__ import annotations

import click

from sglang_contracts.cli import options


@click.command(
    name="diff",
    epilog=options.examples(
        "sglang-contracts diff 0.5.12 0.5.13",
        "sglang-contracts diff 0.5.20 0.5.23 --for path/to/plugin",
    ),
)
@click.argument("old", metavar="OLD")
@click.argument("new", metavar="NEW")
@click.option("--for", "plugin", metavar="PATH|DIST", help="Only what this plugin uses.")
@click.option(
    "--contract",
    "-c",
    "contract_ids",
    multiple=True,
    metavar="ID",
    help="Only this contract; may be given several times.",
)
@options.plugin_options
@options.output_options(options.SHORT_FORMATS)
def command(
    old: str,
    new: str,
    plugin: str | None,
    contract_ids: tuple[str, ...],
    exclude: tuple[str, ...],
    config: object,
    output: options.Output,
) -> int:
    """What changed between two releases, for the contracts or a plugin.

    Exit code 1 where anything differs.
    """
    from pathlib import Path

    from sglang_contracts.cli.progress import working
    from sglang_contracts.contract import load_contracts, select
    from sglang_contracts.verify.clauses.diff import diff
    from sglang_contracts.verify.commands.releases import find_release

    contracts = select(load_contracts(), contract_ids)
    catalog = options.catalog()
    before, after = find_release(old, catalog.releases), find_release(new, catalog.releases)
    symbols: list[str] | None = None
    with working(f"comparing {before} and {after}", output.quiet):
        if plugin is not None:
            from sglang_contracts.cli.target import open_target

            target = open_target(plugin, exclude, config if isinstance(config, Path) else None)
            symbols = target.symbols(catalog, (before, after))
        report = diff(contracts, catalog, before, after, symbols=symbols)
    output.emit(report)
    return int(any(entry.findings for entry in report.releases))
