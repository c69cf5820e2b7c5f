"""``certify``: the conformance suite on an installed plugin, and a certificate of it."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sglang_contracts.cli import certificates, options
from sglang_contracts.cli.console import say
from sglang_contracts.errors import ContractsError

if TYPE_CHECKING:
    from sglang_contracts.certify.certificate import Certificate
    from sglang_contracts.suite.result import Result

MARKS = {
    "pass": "ok",
    "skip": "skipped",
    "expected": "expected",
    "fail": "FAILED",
    "error": "ERROR",
}


_CERTIFICATE, _JUNIT, _PAGE = "certificate.json", "junit.xml", "certificate.html"


def _a_number(_: click.Context, parameter: click.Parameter, value: float | None) -> float | None:
    if value is not None and value != value:  # nan: no time would ever be over
        unit = "seconds" if parameter.name == "timeout" else "GB"
        raise click.BadParameter(f"is no number of {unit}", param=parameter)
    return value


@click.command(
    name="certify",
    epilog=options.examples(
        "sglang-contracts certify my-plugin --sglang fake:0.5.20       no SGLang, no card",
        "sglang-contracts certify my-plugin --sglang 0.5.20 --out report",
        "sglang-contracts certify my-plugin --sglang installed --level 2 --profile quick",
        "sglang-contracts certify --verify report/certificate.json",
        "sglang-contracts certify --verify report/certificate.json --require-passed "
        "--require-level 4 --require-profile full --require-release 0.5.20",
        "sglang-contracts certify my-plugin --sglang fake:0.5.20 --mutants mutants",
    ),
)
@click.argument("plugin", metavar="DIST", required=False)
@click.option(
    "--sglang",
    default="installed",
    show_default=True,
    metavar="V",
    help="installed, the version that must be installed, or fake:V.",
)
@click.option(
    "--level", type=click.IntRange(0, 5), default=4, show_default=True, help="Highest level to run."
)
@options.profile_option
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of drawn examples.")
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Write certificate.json, junit.xml and certificate.html there.",
)
@options.settings_option
@click.option(
    "--sign",
    "key",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="KEY",
    help="Sign the certificate in --out with this SSH key (by ssh-keygen).",
)
@click.option("--issuer", default="", metavar="NAME", help="Who issues it.  [default: user@host]")
@click.option(
    "--verify",
    "verified",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Check a certificate again: its digests, the installed plugin, this suite.",
)
@certificates.requirements
@click.option(
    "--mutants",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Instead: seed each defect in DIR into DIST; its check must catch it.",
)
@click.option(
    "--timeout",
    type=click.FloatRange(min=1, max=1e9),
    default=3600,
    callback=_a_number,
    show_default=True,
    metavar="SECONDS",
    help="End a run that takes longer: a backend may hang.",
)
@click.option(
    "--jobs",
    type=click.IntRange(min=1),
    metavar="N",
    help="Processes that share the work.  [default: on a fake 1 to 4, by CPUs; else 1]",
)
@click.option(
    "--memory",
    type=click.FloatRange(min=0.1, max=1e6),
    callback=_a_number,
    metavar="GB",
    help="End a process of a run that takes more together.  [default: three quarters of the free]",
)
@options.quiet_option
def command(
    plugin: str | None,
    sglang: str,
    level: int,
    profile: str,
    seed: int,
    out: Path | None,
    config: Path | None,
    key: Path | None,
    issuer: str,
    verified: Path | None,
    wanted: certificates.Wanted,
    mutants: Path | None,
    timeout: float,
    jobs: int | None,
    memory: float | None,
    quiet: bool,
) -> int:
    """Run the conformance suite on an installed plugin.

    DIST is the name of its distribution; what it supports stands in its settings
    ([tool.sglang-contracts.capabilities]). Levels: 0 static, 1 load, 2 interface, 3 meaning,
    4 discipline, 5 serving (a server of the installed SGLang is started). Exit 0: it passed,
    without or with the exceptions that its settings state; 1: it failed; 2: it could not be told.
    """
    if verified is not None:
        again = certificates.Again(config, timeout, jobs or 0, quiet)
        return certificates.verify_file(verified, wanted, again)
    wanted.refuse_without_a_certificate()
    if plugin is None:
        raise ContractsError("no plugin is named", "sglang-contracts certify DIST --sglang fake:V")
    if mutants is not None:
        return _mutants(plugin, sglang, config, mutants, jobs, quiet)
    from sglang_contracts.certify.run import Order, certify
    from sglang_contracts.certify.signature import place_of
    from sglang_contracts.cli.progress import steps

    if key is not None:
        if out is None:
            raise ContractsError("there is nothing to sign", "say where to write it: --out DIR")
        if not key.is_file():
            raise ContractsError(f"there is no key {key}", "name the file of an SSH key")
    if out is not None:
        _can_be_written(out, plugin)
    _hold_the_combination(plugin, config, sglang)
    allowed = int((memory or 0) * (1 << 30))
    order = Order(plugin, sglang, level, profile, seed, config, issuer, timeout, jobs or 0, allowed)
    with steps(f"certifying {plugin}", quiet) as bar:

        def progress(done: int, planned: int, result: Result | None) -> None:
            if bar is not None:
                bar(done, planned)
            elif not quiet and result is not None:
                mark = MARKS[result.outcome]
                say(f"[{done}/{planned}] {result.id} {mark}", err=True)

        certificate = certify(order, progress)
    _print(certificate, quiet)
    if out is not None:
        _write(certificate, out)
        if key is not None:
            say(f"signed: {certificates.sign(out / _CERTIFICATE, key)}", err=True)
        elif place_of(out / _CERTIFICATE).exists():
            say(f"note: {place_of(out / _CERTIFICATE)} is of an earlier one", err=True)
        say(f"written: {out / 'certificate.json'}, junit.xml, certificate.html", err=True)
    from sglang_contracts.suite.verdict import FAILED, UNKNOWN

    return {FAILED: 1, UNKNOWN: 2}.get(certificate.verdict, 0)


def _hold_the_combination(plugin: str, config: Path | None, sglang: str) -> None:
    """Refuse a host that is not the combination which the plugin locks.

    Raises:
        ContractsError: A locked version is not the installed one.
    """
    from sglang_contracts.doctor import Host
    from sglang_contracts.doctor.versions import differences
    from sglang_contracts.suite.subject import settings_of

    try:
        settings, _ = settings_of(plugin, config)
    except ContractsError:
        return  # the run itself says so, with what it needs of the plugin
    fake = sglang.startswith("fake:")
    locked = {k: v for k, v in settings.combination.items() if not (fake and k == "sglang")}
    wrong, _, _ = differences(Host(plugin, settings), locked)
    if wrong:
        raise ContractsError(
            f"this host is not the combination that {plugin} locks: {'; '.join(wrong)}",
            "install the locked versions, or change [tool.sglang-contracts.combination]",
        )


def _print(certificate: Certificate, quiet: bool) -> None:
    from sglang_contracts.certify import summary

    for line in summary.lines(certificate, quiet):
        say(line)


def _can_be_written(out: Path, plugin: str) -> None:
    """Find out before the run, not after it, that ``--out`` is no place to write to."""
    import importlib.metadata

    from sglang_contracts.certify.certificate import write_bytes
    from sglang_contracts.certify.digests import packages

    hint = "choose another --out"
    if out.is_symlink() and not out.exists():
        raise ContractsError(f"{out} is a link to what is not there", hint)
    for name in (_CERTIFICATE, _JUNIT, _PAGE):
        if (out / name).is_dir():
            raise ContractsError(f"{out / name} is a folder", hint)
    with contextlib.suppress(importlib.metadata.PackageNotFoundError, ValueError):
        for folder in packages(plugin):
            if out.resolve().is_relative_to(folder.resolve()):
                raise ContractsError(
                    f"{out} lies in a package of {plugin}: the report would be a part of what it "
                    "certifies",
                    hint,
                )
    probe = out / ".sglang-contracts-probe"
    write_bytes(probe, b"")
    probe.unlink(missing_ok=True)


def _write(certificate: Certificate, out: Path) -> None:
    from sglang_contracts.certify import junit, page
    from sglang_contracts.certify.certificate import write_bytes, write_certificate

    write_certificate(certificate, out / _CERTIFICATE)
    write_bytes(out / _JUNIT, junit.render(certificate).encode())
    write_bytes(out / _PAGE, page.render(certificate).encode())


def _mutants(
    plugin: str, sglang: str, config: Path | None, folder: Path, jobs: int | None, quiet: bool
) -> int:
    """Run a folder of mutants; 1 if one is not killed."""
    import logging

    from sglang_contracts.certify.run import jobs_on, release_of
    from sglang_contracts.cli.progress import steps
    from sglang_contracts.suite.mutants import Score, mutant_files, run_mutants, table
    from sglang_contracts.suite.session import open_session

    logging.getLogger().addHandler(logging.NullHandler())  # what mutants log is no news
    files = mutant_files(folder)
    release_of(sglang)
    session = open_session(plugin, sglang, config)
    done = 0
    with steps(f"seeding {len(files)} defects", quiet) as bar:

        def progress(_: Score) -> None:
            nonlocal done
            done += 1
            if bar is not None:
                bar(done, len(files))

        scores = run_mutants(files, session, progress=progress, jobs=jobs or jobs_on(sglang))
    say(table(scores))
    return int(any(each.verdict not in ("killed", "skipped") for each in scores))
