"""``new``: start a contract, a rule, a check or a mutant."""

from __future__ import annotations

from pathlib import Path

import click

from sglang_contracts.cli import options


@click.group(
    name="new",
    epilog=options.examples(
        "sglang-contracts new contract speculative-worker",
        "sglang-contracts new rule default-changed",
        "sglang-contracts new check sampler.ties-go-low --level 3",
        "sglang-contracts new mutant ties_go_high --killed-by sampler.ties-go-low",
    ),
)
def command() -> None:
    """Start a contract, a rule, a check of the suite or a mutant: a stub with a failing test."""


@command.command(
    name="contract",
    epilog=options.examples(
        "sglang-contracts new contract speculative-worker",
        "sglang-contracts new contract radix-cache \\\n"
        "      --target sglang.srt.mem_cache.radix_cache:RadixCache",
        "sglang-contracts new contract my-interface --into my/contracts",
    ),
)
@click.argument("name")
@click.option(
    "--target",
    default="",
    metavar="MODULE:CLASS",
    help="The class it is on: its names go to the inventory, with the releases that have them.",
)
@click.option(
    "--into",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    metavar="DIR",
    help="A folder of your own, for contract and test.  [default: those of this checkout]",
)
def contract(name: str, target: str, into: Path | None) -> int:
    """Write contracts/NAME.toml and a test that fails until it is filled in."""
    from sglang_contracts.cli.progress import working
    from sglang_contracts.contract.stub import new_contract

    if target:
        with working(f"reading {target} in every recorded release"):
            written = new_contract(name, into, target, options.catalog())
    else:
        written = new_contract(name, into)
    click.echo("\n".join(map(str, written)))
    click.echo("The test fails until the TODOs are replaced. A table that says more than a name")
    click.echo(f"and its bounds goes from inventory/{name}.toml to {name}.toml. Then:")
    if into is None:
        click.echo(f"  sglang-contracts verify --contract {name} --propose")
        click.echo("  python docs/generate.py")
    click.echo(f"  pytest {written[-1]}")
    return 0


@command.command(
    name="rule",
    epilog=options.examples(
        "sglang-contracts new rule default-changed",
        "sglang-contracts new rule default-changed --checkout ../sglang-contracts",
    ),
)
@click.argument("name")
@click.option(
    "--checkout",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    metavar="DIR",
    help="The project's top folder.  [default: the one this command runs from]",
)
def rule(name: str, checkout: Path | None) -> int:
    """Write a rule's module, page and fixtures, and enter it in the registry.

    The tests of rules fail until what is marked TODO is replaced.
    """
    from sglang_contracts.verify.rules.stub import new_rule

    written = new_rule(name, checkout)
    click.echo("\n".join(map(str, written)))
    click.echo("The tests fail until the TODOs are replaced; the order is yours. Then:")
    click.echo("  pytest tests/verify/test_rules.py tests/verify/test_registry.py")
    return 0


@command.command(
    name="check",
    epilog=options.examples("sglang-contracts new check sampler.ties-go-low --level 3"),
)
@click.argument("id", metavar="FAMILY.WHAT-MUST-HOLD")
@click.option("--level", type=click.IntRange(0, 4), required=True, help="What it belongs to.")
def check(id: str, level: int) -> int:
    """Write a check of the suite, a mutant that it must kill, and its documentation."""
    from sglang_contracts.suite.stub import new_check

    written = new_check(id, level)
    click.echo("\n".join(map(str, written)))
    click.echo("The tests fail until the TODOs are replaced. Then:")
    click.echo("  pytest tests/suite/test_registry.py")
    click.echo("  tox -e mutants")
    return 0


@command.command(
    name="mutant",
    epilog=options.examples(
        "sglang-contracts new mutant ties_go_high --killed-by sampler.ties-go-low"
    ),
)
@click.argument("name")
@click.option("--killed-by", required=True, metavar="CHECK", help="The check that must catch it.")
def mutant(name: str, killed_by: str) -> int:
    """Write a backend with one defect, to be filled in."""
    from sglang_contracts.suite.stub import new_mutant

    click.echo(f"{new_mutant(name, killed_by)}\nReplace the TODOs. Then:\n  tox -e mutants")
    return 0
