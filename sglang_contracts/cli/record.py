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
    ),
)
@click.argument("specs", nargs=-1, required=True, metavar="V|WHEEL...")
@click.option("--force", is_flag=True, help="Record it again though it is recorded.")
@click.option(
    "--into",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Folder of recorded releases to write to.  [default: your cache]",
)
@options.output_options(options.SHORT_FORMATS)
def command(specs: tuple[str, ...], force: bool, into: Path | None, output: options.Output) -> int:
    """Record a release, from the index or from a wheel.

    The wheel is fetched with your own pip and read without unpacking or importing it. What is
    recorded lies in your cache and is read beside what is shipped.
    """
    import msgspec

    from sglang_contracts.cli.recording import record_one
    from sglang_contracts.verify.finding import Note, Report

    done, notes = [], []
    for spec in specs:
        # Loaded anew each time: the next one may stand on the one before.
        catalog = options.catalog()
        recorded = record_one(spec, catalog, folder=into, force=force, quiet=output.quiet)
        done.append(msgspec.to_builtins(recorded, builtin_types=(Path,), enc_hook=str))
        done[-1]["path"] = str(recorded.path)
        notes += [
            Note(f"{module} could only be read in part: {why}")
            for module, why in sorted(recorded.problems.items())
        ]
    output.emit(Report("record", notes=tuple(notes), facts={"recorded": done}))
    return 0
