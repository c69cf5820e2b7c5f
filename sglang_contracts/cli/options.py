"""Options that several commands share, and what they come to."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from sglang_contracts.surface import Catalog
    from sglang_contracts.verify.findings.finding import Report

Function = TypeVar("Function", bound=Callable[..., Any])

FORMATS = ("text", "json", "sarif", "junit", "github", "markdown", "html")
SHORT_FORMATS = ("text", "json", "markdown")
# Both stand in sglang_contracts.report as well, which this module must not import: --help would
# pay for it. A test compares them.


quiet_option = click.option(
    "--quiet", "-q", is_flag=True, help="No progress, and only what matters."
)
profile_option = click.option(
    "--profile",
    type=click.Choice(["quick", "full"]),
    default="full",
    show_default=True,
    help="How much is tried.",
)
settings_option = click.option(
    "--config",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="The plugin's pyproject.toml or sglang-contracts.toml.  [default: its own]",
)


@dataclass(frozen=True)
class Output:
    """Where a report goes and how."""

    format: str
    file: Path | None
    color: str
    verbose: bool = False
    quiet: bool = False

    def emit(self, report: Report, show_silenced: bool = False) -> None:
        """Render the report and print or write it."""
        from sglang_contracts.cli.console import wants_color, width, write
        from sglang_contracts.report import Options, render

        color = self.color == "always" or (
            self.file is None and wants_color(sys.stdout, self.color)
        )
        options = Options(
            color=color and self.format == "text",
            width=width(sys.stdout) if self.file is None else 100,
            verbose=self.verbose,
            quiet=self.quiet,
            show_silenced=show_silenced,
            base=str(Path.cwd()),
        )
        text = render(report, self.format, options)
        if text or self.file is not None:
            write(text, self.file)


def output_options(
    formats: Sequence[str] = FORMATS,
) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """``--format``, ``--output``, ``--color``, ``--verbose``, ``--quiet``, as one ``output``."""

    def decorate(function: Callable[..., int]) -> Callable[..., int]:
        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> int:
            kwargs["output"] = Output(
                kwargs.pop("format_name"),
                kwargs.pop("output_file"),
                kwargs.pop("color"),
                kwargs.pop("verbose"),
                kwargs.pop("quiet"),
            )
            return function(*args, **kwargs)

        options = (
            click.option(
                "--format",
                "-f",
                "format_name",
                type=click.Choice(formats),
                default="text",
                show_default=True,
                help="What to print.",
            ),
            click.option(
                "--output",
                "-o",
                "output_file",
                type=click.Path(path_type=Path),
                metavar="FILE",
                help="Write to this file instead of stdout.",
            ),
            click.option(
                "--color",
                type=click.Choice(["auto", "always", "never"]),
                default="auto",
                help="Colour text; auto: on a terminal, unless NO_COLOR is set.",
            ),
            click.option("--verbose", "-v", is_flag=True, help="Show notes as well."),
            quiet_option,
        )
        return _apply(wrapper, options)

    return decorate


def release_options(function: Function) -> Function:
    """``--release V`` (repeatable) and ``--releases SPEC``; they add up."""
    return _apply(
        function,
        (
            click.option(
                "--release",
                "-r",
                "exact",
                multiple=True,
                metavar="V",
                help="A release of SGLang, exactly; may be given several times.",
            ),
            click.option(
                "--releases",
                "specifiers",
                multiple=True,
                metavar="SPEC",
                help="All recorded releases that match, e.g. '>=0.5.12'.",
            ),
        ),
    )


def failure_options(function: Function) -> Function:
    """``--strict`` and ``--fail-on``."""
    return _apply(
        function,
        (
            click.option("--strict", is_flag=True, help="Warnings and unknown verdicts fail, too."),
            click.option(
                "--fail-on",
                type=click.Choice(["error", "warning", "note", "never"]),
                help="The least severity that gives exit code 1.  [default: error]",
            ),
        ),
    )


def plugin_options(function: Function) -> Function:
    """``--exclude`` and ``--config``: how to look at a plugin."""
    return _apply(
        function,
        (
            click.option(
                "--exclude",
                multiple=True,
                metavar="GLOB",
                help="Leave out files, relative to the plugin's root; may be repeated.",
            ),
            click.option(
                "--config",
                type=click.Path(path_type=Path, dir_okay=False),
                metavar="FILE",
                help="Settings: a pyproject.toml with [tool.sglang-contracts].  "
                "[default: the plugin's own]",
            ),
        ),
    )


def index_options(function: Function) -> Function:
    """``--record`` and ``--online``: releases beyond those recorded."""
    return _apply(
        function,
        (
            click.option(
                "--record",
                "may_record",
                is_flag=True,
                help="Record a --release that is not recorded yet; else a terminal is asked.",
            ),
            click.option(
                "--online",
                is_flag=True,
                help="Ask the index for releases beyond those recorded, and tell.",
            ),
        ),
    )


def examples(*lines: str) -> str:
    """The end of a command's help: examples, one a line, kept as they are."""
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)


def _apply(function: Function, options: Sequence[Callable[[Any], Any]]) -> Function:
    for option in reversed(options):
        function = option(function)
    return function


def catalog() -> Catalog:
    """The recorded releases: shipped, and the user's own."""
    from sglang_contracts.surface import load_catalog

    return load_catalog()


def existing_releases(recorded: Sequence[str]) -> tuple[str, ...]:
    """The recorded releases, and those that are known to exist though they could not be."""
    from sglang_contracts.errors import ContractsError
    from sglang_contracts.surface.roster import load_roster

    try:
        missing = [each.version for each in load_roster().missing]
    except ContractsError:
        missing = []
    return tuple(dict.fromkeys([*recorded, *missing]))
