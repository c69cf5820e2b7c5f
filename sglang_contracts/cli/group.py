"""The group of commands: each is imported when it is run, so that ``--help`` is instant."""

from __future__ import annotations

import importlib
from typing import Any

import click

COMMANDS: dict[str, tuple[str, str]] = {
    # name: (module, one-line help). The help stands here, too, so that listing imports nothing;
    # a test compares it with the command's own.
    "check": ("check", "Check a plugin's uses of SGLang against releases."),
    "matrix": ("matrix", "Every recorded release against a plugin, and the compatible range."),
    "uses": ("uses", "List what a plugin relies on, grouped by upstream module."),
    "upgrade": ("upgrade", "The dossier for moving a plugin from one release to another."),
    "can-upgrade": ("can_upgrade", "Whether a plugin can move to a release, in one line."),
    "launch-check": ("launch_check", "Check a launch command's flags against a release."),
    "verify": ("verify", "Hold every contract against every recorded release."),
    "diff": ("diff", "What changed between two releases, for the contracts or a plugin."),
    "certify": ("certify", "Run the conformance suite on an installed plugin."),
    "plan": ("plan", "What weights and KV pool take of a card, and how many tokens that is."),
    "doctor": (
        "doctor",
        "Symptoms of a served plugin: on this host, in a log, of a running server.",
    ),
    "serve-check": (
        "serve_check",
        "Check a real server: answers, concurrency, latency, long context, soak, service.",
    ),
    "explain": (
        "explain",
        "The life of a symbol, what a clause says, what a rule or a reason for silence means.",
    ),
    "releases": ("releases", "What is recorded, and what the index has beyond it."),
    "record": ("record", "Record a release, from the index or from a wheel."),
    "bump": ("bump", "Record a new release, verify, diff, and check known plugins."),
    "new": (
        "new",
        "Start a contract, a rule, a check of the suite or a mutant: a stub with a failing test.",
    ),
}


class LazyGroup(click.Group):
    """A group that imports a command's module only to run it or to show its help."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All names, in the order of the table: by how often they are wanted."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and give a command; None if there is none of that name."""
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"sglang_contracts.cli.{COMMANDS[cmd_name][0]}")
        command: click.Command = module.command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click does, but an unknown name is answered with the nearest ones."""
        name = args[0] if args else ""
        if name and not name.startswith("-") and name not in COMMANDS:
            from sglang_contracts.errors import nearest

            close = nearest(name, COMMANDS)
            hint = f"Did you mean {' or '.join(close)}?"
            if not close:  # nothing is near: what there is, then
                hint = f"There are {', '.join(COMMANDS)}."
            raise click.UsageError(f"No such command '{name}'. {hint}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The table of commands, from the text that stands here."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])


def _version(ctx: click.Context, _parameter: click.Parameter, value: bool) -> None:
    if not value or ctx.resilient_parsing:
        return
    from sglang_contracts.cli.version import version_text

    click.echo(version_text())
    ctx.exit(0)


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog=(
        "Exit codes: 0 fine, 1 findings, 2 could not run. "
        "Start with: sglang-contracts check path/to/plugin"
    ),
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_version,
    help="The tool's version, and which releases are recorded, to which date.",
)
def cli(**_: Any) -> None:
    """What an SGLang plugin relies on, and which SGLang releases break it.

    All but certify and serve-check is static: neither SGLang nor the plugin is imported, no GPU and
    no torch are needed. certify runs the plugin, on a fake SGLang or on an installed one, and needs
    torch; serve-check asks a server, and starts it where none is named.
    """
