"""``verify``: every contract against every recorded release."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click
import msgspec

from sglang_contracts.cli import options

if TYPE_CHECKING:
    from sglang_contracts.contract import Contract


@click.command(
    name="verify",
    epilog=options.examples(
        "sglang-contracts verify",
        "sglang-contracts verify --release 0.5.24 --contract forward-batch",
        "sglang-contracts verify --propose        edit the ranges that are wrong",
        "sglang-contracts verify --evidence -v    each clause: seen live in ..., or not exercised",
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
@click.option(
    "--evidence",
    is_flag=True,
    help="Tell what running releases have shown of each contract; with -v of each clause.",
)
@options.failure_options
@options.output_options()
def command(
    exact: tuple[str, ...],
    specifiers: tuple[str, ...],
    contract_ids: tuple[str, ...],
    propose: bool,
    evidence: bool,
    strict: bool,
    fail_on: str | None,
    output: options.Output,
) -> int:
    """Hold every contract against every recorded release.

    Each clause says in which releases it holds; that must be so in exactly those. Prints how many
    clauses were checked, and how much of what SGLang does with each kind of object is contracted.
    """
    from sglang_contracts import paths
    from sglang_contracts.cli.progress import lines, steps
    from sglang_contracts.contract import load_contracts, select
    from sglang_contracts.errors import ContractsError
    from sglang_contracts.verify.clauses.verify_clauses import verify_contracts
    from sglang_contracts.verify.commands.releases import select_releases
    from sglang_contracts.verify.findings.finding import Note
    from sglang_contracts.verify.findings.policy import exit_code

    contracts = select(load_contracts(), contract_ids)
    if not any(contract.clauses for contract in contracts):
        raise ContractsError(
            "there is no clause to verify", f"contracts lie in {paths.data('contracts')}"
        )
    catalog = options.catalog()
    releases = select_releases(catalog.releases, exact, specifiers, everything=True)
    with steps("verifying", output.quiet) as bar:
        progress = bar or (None if output.quiet else lines("verifying"))
        report = verify_contracts(contracts, catalog, releases, progress=progress)
    if propose:
        from sglang_contracts.verify.clauses.propose import write_proposals

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
    if evidence:
        report = msgspec.structs.replace(report, facts={**report.facts, **_evidence(contracts)})
    output.emit(report)
    return exit_code(report, fail_on or "error", strict)


def _evidence(contracts: Sequence[Contract]) -> dict[str, object]:
    """What engine runs of real releases showed: counts by contract, and a row for each clause."""
    from sglang_contracts import paths
    from sglang_contracts.errors import ContractsError
    from sglang_contracts.live.evidence import load_all, table

    found = load_all(paths.data("matrix") / "evidence")
    if not found:
        raise ContractsError(
            f"there is no evidence in {paths.data('matrix') / 'evidence'}",
            "SGLANG_CONTRACTS_RECORD=1 tox -e sglang-0.5.23 records it",
        )
    rows = []
    for contract in contracts:
        for row in table(contract, found):
            if row.asked:
                rows.append(
                    {
                        "clause": row.clause,
                        "status": row.status.name.lower().replace("_", "-"),
                        "seen": list(row.seen),
                        "present": list(row.present),
                        "declared": list(row.declared),
                        "contradicted": [
                            f"{release}: {detail}" for release, detail in row.contradicted
                        ],
                        "absent": list(row.absent),
                        "modes": list(row.modes),
                    }
                )
    releases = dict.fromkeys(each.release for each in found)
    return {"evidence": rows, "evidence_releases": list(releases)}
