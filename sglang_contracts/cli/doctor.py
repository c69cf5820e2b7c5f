"""``doctor``: the symptoms of a served plugin, on this host, in a log, of a running server."""

from __future__ import annotations

from pathlib import Path

import click

from sglang_contracts.cli import options


@click.command(
    name="doctor",
    epilog=options.examples(
        "sglang-contracts doctor my-plugin",
        "sglang-contracts doctor my-plugin --log server.log --server http://127.0.0.1:30000",
        "sglang-contracts doctor my-plugin --format json",
    ),
)
@click.argument("plugin", metavar="DIST")
@click.option("--server", "url", default="", metavar="URL", help="A running server to ask.")
@click.option("--api-key", default="", metavar="KEY", help="Of that server.")
@click.option(
    "--header",
    "headers",
    multiple=True,
    metavar="NAME=VALUE",
    help="Sent to it with each request; may be repeated.",
)
@click.option(
    "--log",
    "log_file",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="What a server has printed.",
)
@click.option(
    "--config",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Settings: a pyproject.toml with [tool.sglang-contracts].  [default: the plugin's own]",
)
@options.output_options(options.SHORT_FORMATS)
def command(
    plugin: str,
    url: str,
    api_key: str,
    headers: tuple[str, ...],
    log_file: Path | None,
    config: Path | None,
    output: options.Output,
) -> int:
    """Symptoms of a served plugin: on this host, in a log, of a running server.

    Each is ok, found, or cannot be told, with its evidence and its mend. The plugin's platform is
    activated once, in a process of its own. Exit 1: something was found.
    """
    from sglang_contracts.cli.progress import working
    from sglang_contracts.doctor import Host, Status, diagnose
    from sglang_contracts.errors import ContractsError
    from sglang_contracts.serving.client import Client
    from sglang_contracts.suite.subject import settings_of
    from sglang_contracts.verify.findings.finding import Report

    settings, _ = settings_of(plugin, config)
    log = None
    if log_file is not None:
        try:
            log = log_file.read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError as error:
            raise ContractsError(f"cannot read {log_file}: {error.strerror}") from None
    pairs = [each.partition("=") for each in headers]
    if wrong := [each[0] for each in pairs if not each[1]]:
        raise ContractsError(f"--header {wrong[0]} has no value", "write --header NAME=VALUE")
    client = None
    if url:
        client = Client(url, api_key, {name: value for name, _, value in pairs}, timeout=60.0)
    host = Host(plugin, settings, log=log, client=client)
    found = []
    with working(f"looking at this host for {plugin}", output.quiet):
        for check, diagnosis in diagnose(host):
            found.append(
                {
                    "check": check.id,
                    "title": check.title,
                    "symptom": check.symptom,
                    "status": diagnosis.status.value,
                    "evidence": list(diagnosis.evidence),
                    "mend": check.mend,
                }
            )
    output.emit(Report("doctor", facts={"diagnoses": found}))
    return int(any(each["status"] == Status.FOUND.value for each in found))
