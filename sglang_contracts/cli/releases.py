"""``releases``: what is recorded, and what the index has beyond it."""

from __future__ import annotations

import click

from sglang_contracts.cli import options


@click.command(
    name="releases",
    epilog=options.examples(
        "sglang-contracts releases",
        "sglang-contracts releases --offline --format json",
    ),
)
@click.option("--offline", is_flag=True, help="Do not ask the index.")
@options.output_options(options.SHORT_FORMATS)
def command(offline: bool, output: options.Output) -> int:
    """What is recorded, and what the index has beyond it.

    The index is asked through your own pip, with its mirrors and settings. What it has beyond the
    recorded releases, `sglang-contracts record` adds to your cache.
    """
    from sglang_contracts.cli.index import ask_index, beyond, remembered_index
    from sglang_contracts.cli.progress import working
    from sglang_contracts.errors import ContractsError
    from sglang_contracts.verify.findings.finding import Note, Report

    catalog = options.catalog()
    notes = []
    index = remembered_index()
    if not offline:
        try:
            with working("asking the index", output.quiet):
                index = ask_index()
        except ContractsError as error:
            notes.append(Note(error.message, hint=error.hint))
    missing = beyond(index, catalog.releases) if index is not None else []
    facts: dict[str, object] = {
        "recorded": [
            {
                "release": release,
                "modules": len(catalog.surface(release).module_names()),
                "user": catalog.is_users(release),
                "digest": catalog.surface(release).digest,
                "problems": len(catalog.pack(release).header.problems),
            }
            for release in catalog.releases
        ],
        "missing": _missing(),
        "beyond": missing,
        "index_asked": index.asked.isoformat() if index is not None else None,
    }
    output.emit(Report("releases", notes=tuple(notes), facts=facts))
    return 0


def _missing() -> list[dict[str, str]]:
    """What is known to exist and could not be recorded, with the reason."""
    from sglang_contracts.errors import ContractsError
    from sglang_contracts.surface.roster import load_roster

    try:
        roster = load_roster()
    except ContractsError:
        return []
    return [{"release": each.version, "reason": each.reason} for each in roster.missing]
