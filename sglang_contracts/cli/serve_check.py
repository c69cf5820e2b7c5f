"""``serve-check``: level 5, a real server asked the way its users will ask it."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sglang_contracts.cli import options
from sglang_contracts.cli.certify import MARKS
from sglang_contracts.cli.console import say
from sglang_contracts.cli.progress import EVERY
from sglang_contracts.errors import ContractsError
from sglang_contracts.inert import harmless, one_line

if TYPE_CHECKING:
    from sglang_contracts.serving.report import Report
    from sglang_contracts.serving.session import Session
    from sglang_contracts.suite.result import Result
    from sglang_contracts.suite.subject import Subject

_REPORT, _PAGE = "serving.json", "serving.html"
_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0}
_KEY = "SGLANG_API_KEY"


class Duration(click.ParamType):  # type: ignore[type-arg]  # generic in new versions alone
    """Seconds, written as ``90``, ``90s``, ``30m`` or ``4h``."""

    name = "duration"

    def convert(
        self, value: str | float, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """The seconds that a text means."""
        if isinstance(value, float):
            return value
        number, unit = (value[:-1], value[-1]) if value[-1:] in _UNITS else (value, "s")
        try:
            found = float(number) * _UNITS[unit]
        except ValueError:
            found = -1.0
        if not 1 <= found <= 7 * 86_400:
            self.fail(f"'{value}' is no time: write 90s, 30m or 4h", param, ctx)
        return found


@click.command(
    name="serve-check",
    epilog=options.examples(
        "sglang-contracts serve-check my-plugin --sglang installed",
        "sglang-contracts serve-check my-plugin --model /models/m --out report -- --tp-size 8",
        "sglang-contracts serve-check my-plugin --url http://127.0.0.1:30000 --soak 4h",
        "sglang-contracts serve-check --url http://127.0.0.1:30000 --record cuda.json",
        "sglang-contracts serve-check my-plugin --run-file cuda.json --baseline old/serving.json",
    ),
)
@click.argument("plugin", metavar="[DIST]", required=False)
@click.argument("flags", metavar="[-- FLAGS]", nargs=-1)
@click.option(
    "--sglang",
    default="installed",
    show_default=True,
    metavar="V",
    help="installed, or the version that must be installed.",
)
@click.option("--url", metavar="URL", help="A running server; none is started.")
@click.option(
    "--api-key",
    envvar=_KEY,
    metavar="KEY",
    help=f"Of the server at --url; better in the variable {_KEY}.",
)
@click.option("--pid", type=int, metavar="PID", help="A process of that server: its memory.")
@click.option("--model", metavar="PATH", help="What is served.  [default: a tiny model]")
@options.profile_option
@click.option("--only", multiple=True, metavar="ID", help="A check or a family; may be repeated.")
@click.option("--soak", type=Duration(), metavar="TIME", help="How long the soak is, such as 4h.")
@click.option("--context", type=click.IntRange(min=1024), metavar="N", help="The long prompt.")
@click.option(
    "--run-file",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="What another machine answered, to hold answers to.",
)
@click.option(
    "--record",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Instead: write such a file.",
)
@click.option(
    "--tolerance",
    type=click.FloatRange(min=0, max=10),
    default=0.05,
    show_default=True,
    help="Largest difference of two log-probabilities.",
)
@click.option(
    "--baseline",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="An earlier serving.json, to hold latencies to.",
)
@click.option(
    "--slower",
    type=click.FloatRange(min=1, max=1000),
    default=1.25,
    show_default=True,
    help="How many times the baseline is still fine.",
)
@options.settings_option
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Write serving.json and serving.html (with plots) there.",
)
@options.quiet_option
def command(
    plugin: str | None,
    flags: tuple[str, ...],
    sglang: str,
    url: str | None,
    api_key: str | None,
    pid: int | None,
    model: str | None,
    profile: str,
    only: tuple[str, ...],
    soak: float | None,
    context: int | None,
    run_file: Path | None,
    record: Path | None,
    tolerance: float,
    baseline: Path | None,
    slower: float,
    config: Path | None,
    out: Path | None,
    quiet: bool,
) -> int:
    """Check a real server: answers, concurrency, latency, long context, soak, service.

    DIST is an installed plugin. A server is started for it (where the vendor's runtime is missing,
    on the CPU with a tiny model), or the one at --url is asked. What stands after -- are flags of
    the server that is started. Exit 0: all holds; 1: something does not; 2: it could not be told.
    """
    import dataclasses

    from sglang_contracts.serving import run_file as run_files
    from sglang_contracts.serving.registry import chosen
    from sglang_contracts.serving.report import baseline as read_baseline
    from sglang_contracts.serving.report import report
    from sglang_contracts.serving.run import run
    from sglang_contracts.serving.session import EXTENTS

    if plugin is None and url is None:
        raise ContractsError("no plugin and no server is named", "serve-check DIST, or --url URL")
    if url is not None and (flags or model):
        raise ContractsError(
            "--model and flags are of a server that is started here; --url names another",
            "leave them, or leave --url",
        )
    checks = chosen(only)
    expected = run_files.load(run_file) if run_file is not None else None
    earlier = read_baseline(baseline) if baseline is not None else {}
    extent = EXTENTS[profile]
    extent = dataclasses.replace(
        extent, soak=soak or extent.soak, context=context or extent.context
    )
    subject = _subject(plugin, config)
    _right_release(sglang, url)
    tell = _Telling(quiet)
    with tempfile.TemporaryDirectory(prefix="sglang-contracts-") as folder:
        opened = _session(subject, url, api_key, pid, model, flags, Path(folder), tell)
        with opened as session:
            if record is not None:
                return _record(session, record)
            session.extent, session.tolerance, session.slower = extent, tolerance, slower
            session.expected, session.baseline = expected or session.expected, earlier
            session.tell = tell.doing
            _knows(session)
            ran = run(session, checks, tell.done)
            tell.end()
            found = report(session, ran, profile)
    _print(found, quiet)
    if out is not None:
        _write(found, out)
        say(f"written: {out / _REPORT}, {_PAGE}", err=True)
    if found.verdict == "failed":
        return 1
    if ran.interrupted:
        return 130  # what a shell says of Ctrl-C
    return 0 if found.verdict == "passed" else 2


def _subject(plugin: str | None, config: Path | None) -> Subject | None:
    if plugin is None:
        return None
    from sglang_contracts.suite.session import load_plugin

    return load_plugin(plugin, config)


def _right_release(wanted: str, url: str | None) -> None:
    """Another SGLang than the one that is asked for must not be started."""
    if url is not None:
        return
    if wanted.startswith("fake:"):
        raise ContractsError(
            "a fake of SGLang serves nothing", "use --sglang installed, or --url URL"
        )
    from sglang_contracts.certify.run import release_of

    release_of(wanted)


@contextlib.contextmanager
def _session(
    subject: Subject | None,
    url: str | None,
    key: str | None,
    pid: int | None,
    model: str | None,
    flags: Sequence[str],
    folder: Path,
    tell: _Telling,
) -> Iterator[Session]:
    """The server at ``url``, or one that is started and ended here."""
    from sglang_contracts.serving import plugin as plugins
    from sglang_contracts.serving.client import Client
    from sglang_contracts.serving.session import Service, Session

    backend = subject.settings.attention_backend if subject is not None else ""
    kernels = plugins.kernels(subject) if subject is not None else {}
    if url is not None:
        service = Service()
        if subject is not None:
            switch = subject.capabilities.service.get("token-variable", "")
            service = plugins.service(subject, os.environ.get(switch, "") if switch else "")
        client = Client(url, key or "", plugins.token_headers(service))
        yield Session(client, pid=pid or 0, service=service, backend=backend, kernels=kernels)
        return
    assert subject is not None
    with plugins.opened(subject, folder, model or "", flags, tell=tell.doing) as session:
        yield session


def _knows(session: Session) -> None:
    """Find out that a server is there, before anything is said of it.

    Raises:
        ContractsError: It is none, or does not let us in.
    """
    from sglang_contracts.serving.client import ServerRefusedError, ServingError

    try:
        _ = session.info
    except ServerRefusedError as error:
        hint = f"give its key in the variable {_KEY}" if error.status == 401 else ""
        raise ContractsError(
            f"{session.client.url} does not say what it is: {error}", hint
        ) from None
    except (ServingError, TypeError, ValueError) as error:
        raise ContractsError(
            f"there is no SGLang server at {session.client.url}: {error}",
            "start it first, or leave --url and have one started",
        ) from None


def _record(session: Session, file: Path) -> int:
    from sglang_contracts.serving import run_file
    from sglang_contracts.serving.client import ServingError

    _knows(session)
    model = str(session.info.get("model_path") or "")
    made_by = f"SGLang {session.release}, {session.info.get('attention_backend') or 'default'}"
    try:
        found = run_file.record(session.client, Path(model).name, made_by)
    except ServingError as error:
        raise ContractsError(f"the server did not answer: {error}") from None
    run_file.save(found, file)
    say(f"written: {file}: {len(found.answers)} prompts, answered by {made_by}")
    return 0


class _Telling:
    """Says on stderr what is being done: in one line on a terminal, else a line a check."""

    def __init__(self, quiet: bool) -> None:
        self._quiet = quiet
        self._terminal = sys.stderr.isatty() and not quiet
        self._told = time.monotonic()

    def doing(self, text: str) -> None:
        """Something goes on."""
        if self._quiet:
            return
        if self._terminal:
            click.echo(f"\r\x1b[2K{one_line(text)[:100]}", nl=False, err=True)
        elif time.monotonic() - self._told >= EVERY:
            self._told = time.monotonic()
            say(text, err=True)

    def done(self, count: int, planned: int, result: Result) -> None:
        """A check has run."""
        if not self._quiet:
            self.end()
            mark = MARKS[result.outcome]
            say(f"[{count}/{planned}] {result.id} {mark} ({result.seconds:.1f} s)", err=True)
            self._told = time.monotonic()

    def end(self) -> None:
        """Leave the line that is written over again and again."""
        if self._terminal:
            click.echo("\r\x1b[2K", nl=False, err=True)


def _print(found: Report, quiet: bool) -> None:
    for each in found.checks:
        if each.outcome == "skip" and not quiet:
            say(f"skip: {each.id}: {harmless(each.reason)}")
        for sentence in each.omitted if not quiet else ():
            say(f"note: {each.id}: {harmless(sentence)}")
        if each.outcome in ("fail", "error"):
            say(f"{each.outcome}: {each.id}: {each.title}")
            say("  " + harmless(each.message).replace("\n", "\n  "))
    if not quiet:
        _print_measured(found)
    held = sum(each.outcome == "pass" for each in found.checks)
    skipped = sum(each.outcome == "skip" for each in found.checks)
    if found.not_run:
        say(f"planned and not run ({found.ended}): {', '.join(found.not_run)}")
    say(
        f"level 5 serving: {held} of {len(found.planned)} hold"
        + (f", {skipped} skipped" if skipped else "")
        + f"; {found.server['url']}, SGLang {found.release or 'unknown'}: {found.verdict}"
    )


def _print_measured(found: Report) -> None:
    """The measurements that are one number or a short table."""
    for name, value in found.measured.items():
        if isinstance(value, dict):
            value = ", ".join(f"{key}: {each}" for key, each in value.items() if key != "slow")
        say(harmless(f"measured: {name}: {value}"))


def _write(found: Report, out: Path) -> None:
    from sglang_contracts.files import write_atomically
    from sglang_contracts.serving import page
    from sglang_contracts.serving.report import save

    save(found, out / _REPORT)
    write_atomically(out / _PAGE, page.render(found).encode(), "choose another --out")
