"""``can-upgrade``: yes, no or unknown, in one line."""

from __future__ import annotations

from pathlib import Path

import click

from sglang_contracts.cli import options
from sglang_contracts.cli.check import policy_of
from sglang_contracts.cli.target import open_target


@click.command(
    name="can-upgrade",
    epilog=options.examples(
        "sglang-contracts can-upgrade . 0.5.23",
        "sglang-contracts can-upgrade my-plugin 0.5.23 --from 0.5.16 --format json",
    ),
)
@click.argument("plugin", metavar="PATH|DIST")
@click.argument("release", metavar="V")
@click.option(
    "--from",
    "old",
    metavar="U",
    help="The release it works with now.  [default: the newest older one it is compatible with]",
)
@options.plugin_options
@options.output_options(options.SHORT_FORMATS)
def command(
    plugin: str,
    release: str,
    old: str | None,
    exclude: tuple[str, ...],
    config: Path | None,
    output: options.Output,
) -> int:
    """Whether a plugin can move to a release, in one line.

    The answer is yes, no or unknown, with the reason.

    "yes" also says what of all that the plugin uses is recorded differently from before: nothing
    (what was tested need not be tested again) or so many symbols (run the conformance suite).
    Exit code 0 is yes; 1 is no or unknown.
    """
    import msgspec

    from sglang_contracts.cli.progress import working
    from sglang_contracts.errors import ContractsError
    from sglang_contracts.verify.commands.can_upgrade import (
        ANSWERS,
        starting_release,
        used_changes,
    )
    from sglang_contracts.verify.commands.releases import find_release
    from sglang_contracts.verify.findings.policy import select

    target = open_target(plugin, exclude, config)
    catalog = options.catalog()
    new = find_release(release, catalog.releases)
    start = find_release(old, catalog.releases) if old is not None else None
    if start == new:
        raise ContractsError(f"V and --from are both {new}", "name two releases")
    with working(f"checking {plugin} against {new}", output.quiet):
        wanted = catalog.releases if start is None else (start, new)
        everything = target.check(catalog, wanted)
        policy = policy_of(target, fail_on="error", strict=False)
        judged = select(everything, policy, lambda: target.check(catalog, catalog.releases)).report
        if start is None:
            start = starting_release(judged, new, target.settings.supported)
        changed: tuple[str, ...] = ()
        used = 0
        if start is not None:
            changed, used = used_changes(target.root, catalog, start, new, **target.engine_options)
    (entry,) = (each for each in judged.releases if each.release == new)
    answer = ANSWERS[entry.verdict]
    facts: dict[str, object] = {
        "answer": answer,
        "from": start,
        "to": new,
        "used": used,
        "changed": list(changed),
    }
    output.emit(
        msgspec.structs.replace(judged, command="can-upgrade", releases=(entry,), facts=facts)
    )
    return 0 if answer == "yes" else 1
