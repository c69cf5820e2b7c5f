"""``record``: add releases, from the index or from a wheel."""

from __future__ import annotations

from pathlib import Path

import click

from sglang_contracts.cli import options


@click.command(
    name="record",
    epilog=options.examples(
        "sglang-contracts record 0.5.24",
        "sglang-contracts record ./sglang-0.5.24-cp311-cp311-manylinux_2_34_x86_64.whl",
        "sglang-contracts record --shipped        all that the index has beyond, into a checkout",
    ),
)
@click.argument("specs", nargs=-1, metavar="V|WHEEL...")
@click.option("--force", is_flag=True, help="Record it again though it is recorded.")
@click.option(
    "--into",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Folder of recorded releases to write to.  [default: your cache]",
)
@click.option(
    "--shipped",
    is_flag=True,
    help="Into the checkout's own matrix/, its list included; without V: all the index has beyond.",
)
@options.output_options(options.SHORT_FORMATS)
def command(
    specs: tuple[str, ...], force: bool, into: Path | None, shipped: bool, output: options.Output
) -> int:
    """Record a release, from the index or from a wheel.

    The wheel is fetched with your own pip and read without unpacking or importing it. What is
    recorded lies in your cache and is read beside what is shipped.
    """
    import msgspec

    from sglang_contracts import paths
    from sglang_contracts.cli.recording import record_one, update_roster
    from sglang_contracts.errors import ContractsError
    from sglang_contracts.verify.findings.finding import Note, Report

    if shipped and into is not None:
        raise click.UsageError("--shipped and --into exclude each other")
    if not specs and not shipped:
        raise click.UsageError("name a release or a wheel")
    if shipped and (paths.package() / "data" / "matrix").is_dir():
        raise ContractsError(
            "--shipped is for a checkout of sglang-contracts, this is an installation of it",
            "leave it out: what you record lies in your cache and is read beside what is shipped",
        )
    failures: dict[str, str] = {}
    wanted: tuple[str, ...] = specs or _beyond(output.quiet)
    done, notes = [], []
    for spec in wanted:
        # Loaded anew each time: the next one may stand on the one before.
        catalog = options.catalog()
        folder = catalog.shipped if shipped else into
        try:
            recorded = record_one(spec, catalog, folder=folder, force=force, quiet=output.quiet)
        except ContractsError as error:
            if specs:
                raise
            failures[spec] = error.message
            notes.append(Note(error.message, hint=error.hint))
            continue
        done.append(msgspec.to_builtins(recorded, builtin_types=(Path,), enc_hook=str))
        done[-1]["path"] = str(recorded.path)
        notes += [
            Note(f"{module} could only be read in part: {why}")
            for module, why in sorted(recorded.problems.items())
        ]
    if shipped:
        update_roster(options.catalog(), failures)
    output.emit(Report("record", notes=tuple(notes), facts={"recorded": done}))
    return 0


def _beyond(quiet: bool) -> tuple[str, ...]:
    """Everything the index has beyond what is recorded."""
    from sglang_contracts.cli.index import ask_index, beyond
    from sglang_contracts.cli.progress import working

    with working("asking the index", quiet):
        index = ask_index()
    return tuple(beyond(index, options.catalog().releases))
