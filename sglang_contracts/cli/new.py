"""``new``: start a contract."""

from __future__ import annotations

from pathlib import Path

import click

from sglang_contracts.cli import options


@click.group(
    name="new",
    epilog=options.examples("sglang-contracts new contract speculative-worker"),
)
def command() -> None:
    """Start a contract: a stub with a failing test."""


@command.command(
    name="contract", epilog=options.examples("sglang-contracts new contract speculative-worker")
)
@click.argument("name")
@click.option(
    "--into",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    metavar="DIR",
    help="The folder of contracts.  [default: contracts/ of this checkout]",
)
def contract(name: str, into: Path | None) -> int:
    """Write contracts/NAME.toml and a test that fails until it is filled in."""
    from sglang_contracts.contract.stub import new_contract

    written, test = new_contract(name, into)
    click.echo(f"{written}\n{test}\nThe test fails until the TODOs are replaced.")
    return 0
