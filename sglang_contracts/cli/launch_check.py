"""``launch-check``: a launch command's flags, values and environment against a release."""

from __future__ import annotations

import click

from sglang_contracts.cli import options


class _Command(click.Command):
    """Tells what was forgotten where an option of the launch command is taken for one of ours."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """As click does."""
        given = list(args)
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            if "--" in given:
                raise
            raise click.UsageError(
                f"{error.format_message()} If it belongs to the launch command, put -- before "
                "that: sglang-contracts launch-check --release V -- python -m sglang.launch_server "
                "...",
                ctx,
            ) from None


@click.command(
    name="launch-check",
    cls=_Command,
    context_settings={"ignore_unknown_options": False},
    epilog=options.examples(
        "sglang-contracts launch-check --release 0.5.16 -- "
        "python -m sglang.launch_server --model m --tp-size 8",
        "sglang-contracts launch-check --plugin . -- sglang serve --attention-backend kunlun ...",
        "sglang-contracts launch-check -r 0.5.20 -r 0.5.23 -- SGLANG_USE_AITER=1 sglang serve ...",
    ),
)
@options.release_options
@click.option(
    "--plugin",
    metavar="PATH|DIST",
    help="A plugin that is installed then: backends, quantisations and the like that it registers "
    "are known.",
)
@options.failure_options
@options.output_options()
@click.argument("words", nargs=-1, required=True, metavar="-- CMD...")
def command(
    exact: tuple[str, ...],
    specifiers: tuple[str, ...],
    plugin: str | None,
    strict: bool,
    fail_on: str | None,
    output: options.Output,
    words: tuple[str, ...],
) -> int:
    """Check a launch command's flags against a release.

    Flags, their values, and the environment (NAME=value words in front). Without --release: the
    newest recorded one.
    """
    import msgspec

    from sglang_contracts.verify import launch_check
    from sglang_contracts.verify.commands.releases import select_releases
    from sglang_contracts.verify.findings.policy import exit_code

    catalog = options.catalog()
    newest = () if exact or specifiers else catalog.releases[-1:]
    releases = select_releases(catalog.releases, (*exact, *newest), specifiers)
    # One word is a whole command line that was quoted for the shell.
    if len(words) == 1:
        import shlex

        from sglang_contracts.errors import ContractsError

        try:
            words = tuple(shlex.split(words[0]))
        except ValueError as error:
            raise ContractsError(
                f"the command cannot be split: {error}", "mind the quotes"
            ) from None
    reports = [launch_check(list(words), catalog, release, plugin=plugin) for release in releases]
    report = msgspec.structs.replace(
        reports[0],
        releases=tuple(entry for each in reports for entry in each.releases),
        notes=tuple(dict.fromkeys(note for each in reports for note in each.notes)),
    )
    output.emit(report)
    return exit_code(report, fail_on or "error", strict)
