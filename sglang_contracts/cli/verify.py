"""``verify``: every contract against every recorded release."""

from __future__ import annotations

import click
import msgspec

from sglang_contracts.cli import options


@click.command(
    name="verify",
    epilog=options.examples(
        "sglang-contracts verify",
        "sglang-contracts verify --release 0.5.24 --contract forward-batch",
        "sglang-contracts verify --propose        edit the ranges that are wrong",
    ),
)
@options.release_options
@click.option(
    "--contract",
    "-c",
    "contract_ids",
    multiple=True,
    metavar="ID",
    help="Only this contract; may be given several times.",
)
@click.option(
    "--propose", is_flag=True, help="Write the right ranges into the contracts, for review."
)
@options.failure_options
@options.output_options()
def command(
    exact: tuple[str, ...],
    specifiers: tuple[str, ...],
    contract_ids: tuple[str, ...],
    propose: bool,
    strict: bool,
    fail_on: str | None,
    output: options.Output,
) -> int:
    """Hold every contract against every recorded release.

    Each clause says in which releases it holds; that must be so in exactly those. Prints how many
    clauses were checked, and how much of what SGLang does with each kind of object is contracted.
    """
    from sglang_contracts import paths
    from sglang_contracts.cli.progress import steps
    from sglang_contracts.contract import load_contracts, select
    from sglang_contracts.errors import ContractsError
    from sglang_contracts.verify.contracts import verify_contracts
    from sglang_contracts.verify.finding import Note
    from sglang_contracts.verify.releases import select_releases
    from sglang_contracts.verify.selection import exit_code

    contracts = select(load_contracts(), contract_ids)
    if not any(contract.clauses for contract in contracts):
        raise ContractsError(
            "there is no clause to verify", f"contracts lie in {paths.data('contracts')}"
        )
    catalog = options.catalog()
    releases = select_releases(catalog.releases, exact, specifiers, everything=True)
    with steps("verifying", output.quiet) as progress:
        report = verify_contracts(contracts, catalog, releases, progress=progress)
    if propose:
        from sglang_contracts.verify.propose import write_proposals

        proposals = report.facts.get("proposals")
        edited = write_proposals(
            contracts,
            paths.data("contracts"),
            proposals if isinstance(proposals, list) else [],
        )
        notes = tuple(
            Note(f"{file}: edited {', '.join(ids)}", hint="review it with git diff")
            for file, ids in edited.items()
        ) or (Note("nothing to propose: every range is right"),)
        report = msgspec.structs.replace(report, notes=(*report.notes, *notes))
    output.emit(report)
    return exit_code(report, fail_on or "error", strict)
