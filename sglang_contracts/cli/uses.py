"""``uses``: what a plugin relies on."""

from __future__ import annotations

from pathlib import Path

import click

from sglang_contracts.cli import options
from sglang_contracts.cli.target import open_target


@click.command(
    name="uses",
    epilog=options.examples(
        "sglang-contracts uses .",
        "sglang-contracts uses my-plugin --release 0.5.16 --format json",
        "sglang-contracts uses my-plugin --release 0.5.16 --digest",
    ),
)
@click.argument("plugin", metavar="PATH|DIST")
@click.option(
    "--release",
    "-r",
    metavar="V",
    help="The release in which names are resolved.  [default: the newest recorded]",
)
@click.option(
    "--digest",
    "digest_only",
    is_flag=True,
    help="Print the digest of all that is recorded of what it uses, and nothing else.",
)
@options.plugin_options
@options.output_options(options.SHORT_FORMATS)
def command(
    plugin: str,
    release: str | None,
    digest_only: bool,
    exclude: tuple[str, ...],
    config: Path | None,
    output: options.Output,
) -> int:
    """List what a plugin relies on, grouped by upstream module.

    Each use with its role (import, call, override, patch, hook, ...) and its places. A use with a
    way out (try/except, hasattr, a version comparison) is marked as guarded. Two releases with the
    same --digest are the same to the plugin: what was tested with one holds with the other.
    """
    from sglang_contracts.cli.console import write
    from sglang_contracts.cli.progress import working
    from sglang_contracts.verify import uses_of
    from sglang_contracts.verify.commands.releases import find_release

    target = open_target(plugin, exclude, config)
    catalog = options.catalog()
    wanted = find_release(release, catalog.releases) if release is not None else None
    with working(f"reading {plugin}", output.quiet):
        report = uses_of(target.root, catalog, wanted, **target.engine_options)
    if digest_only and output.format == "text":
        write(f"{report.facts['digest']}", output.file)
        return 0
    output.emit(report)
    return 0
