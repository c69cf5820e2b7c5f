"""``certify --verify``: a certificate held against itself, what is installed, and what is required.

What may be required is options of their own; see :mod:`~sglang_contracts.certify.requirements`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sglang_contracts.cli.console import say
from sglang_contracts.errors import ContractsError
from sglang_contracts.inert import harmless

if TYPE_CHECKING:
    from sglang_contracts.certify.certificate import Certificate
    from sglang_contracts.suite.result import Result

_OPTIONS = (
    click.option(
        "--require-passed",
        is_flag=True,
        help="With --verify: exit 1 unless it says passed, without exceptions.",
    ),
    click.option(
        "--require-level",
        type=click.IntRange(0, 4),
        help="With --verify: exit 1 unless it has reached this level.",
    ),
    click.option(
        "--require-profile",
        type=click.Choice(["quick", "full"]),
        help="With --verify: exit 1 where less was tried.",
    ),
    click.option(
        "--require-release",
        metavar="V",
        help="With --verify: exit 1 unless it is of this SGLang release.",
    ),
    click.option(
        "--require-installed",
        is_flag=True,
        help="With --verify: exit 1 where it is of a fake, not of the real SGLang.",
    ),
    click.option(
        "--require-plugin",
        metavar="NAME[==V]",
        help="With --verify: exit 1 unless it is of this distribution.",
    ),
    click.option(
        "--require-mode",
        multiple=True,
        metavar="MODE",
        help="With --verify: exit 1 unless this forward mode was exercised; repeatable.",
    ),
    click.option(
        "--require-self-contained",
        is_flag=True,
        help="With --verify: exit 1 where code outside the distribution took part.",
    ),
    click.option(
        "--allowed-signers",
        "require_allowed_signers",
        type=click.Path(path_type=Path, dir_okay=False),
        metavar="FILE",
        help="With --verify: exit 1 unless one of these has signed it (ssh-keygen's format).",
    ),
    click.option(
        "--signer",
        "require_signer",
        metavar="NAME",
        help="With --allowed-signers: which of them.",
    ),
    click.option(
        "--signature",
        "require_signature",
        type=click.Path(path_type=Path, dir_okay=False),
        metavar="FILE",
        help="With --allowed-signers: the signature.  [default: the certificate's name and .sig]",
    ),
    click.option(
        "--repeat",
        "require_repeat",
        is_flag=True,
        help="With --verify: run it again; exit 1 where it comes to something else.",
    ),
)


@dataclass(frozen=True)
class Wanted:
    """The options that only make sense with ``--verify``."""

    given: dict[str, Any]

    def refuse_without_a_certificate(self) -> None:
        """Refuse them where nothing is verified: silence would look like a check.

        Raises:
            ContractsError: One is given.
        """
        own = {option.name: option.opts[0] for option in _declared()}
        for name, value in self.given.items():
            if value not in (None, False, ()):
                raise ContractsError(
                    f"{own[name]} is of --verify, and nothing is verified",
                    f"sglang-contracts certify --verify report/certificate.json {own[name]}",
                )


@dataclass(frozen=True)
class Again:
    """How a run is repeated."""

    config: Path | None
    timeout: float
    jobs: int
    quiet: bool


def _declared() -> list[click.Parameter]:
    def nothing() -> None: ...

    for option in reversed(_OPTIONS):
        option(nothing)
    found: list[click.Parameter] = nothing.__click_params__  # type: ignore[attr-defined]
    return found


def requirements(command: Callable[..., int]) -> Callable[..., int]:
    """The options on what is required of a certificate, given to ``command`` as ``wanted``."""

    @functools.wraps(command)
    def with_wanted(**values: Any) -> int:
        names = [name for name in values if name.startswith("require_")]
        return command(wanted=Wanted({name: values.pop(name) for name in names}), **values)

    for option in reversed(_OPTIONS):
        with_wanted = option(with_wanted)
    return with_wanted


def verify_file(path: Path, wanted: Wanted, again: Again) -> int:
    """Verify a certificate and say what was found: 0, or 1 where it does not hold or suffice.

    Raises:
        ContractsError: It is no certificate, the plugin that it is of is not installed, or what
            was asked for cannot be done.
    """
    from sglang_contracts.certify.requirements import Requirements, unmet
    from sglang_contracts.certify.verify import verify

    found = verify(path)
    certificate, given = found.certificate, dict(wanted.given)
    asked = Requirements(
        passed=given["require_passed"],
        level=given["require_level"],
        profile=given["require_profile"] or "",
        release=given["require_release"] or "",
        installed=given["require_installed"],
        plugin=given["require_plugin"] or "",
        modes=given["require_mode"],
        self_contained=given["require_self_contained"],
    )
    lacking = unmet(certificate, asked)
    signer = _signer(path, given)
    if signer == "":
        lacking.append(
            f"it must be signed: {given['require_signer'] or 'no allowed signer'} has not"
        )
    if given["require_repeat"] and not (found.faults or found.unknown):
        lacking += _repeated(certificate, again)
    for kind, sentences in (("fault", found.faults), ("required", lacking)):
        for sentence in sentences:
            say(harmless(f"{kind}: {sentence}", kept=""))
    state = "does not hold" if found.faults else "unchanged"
    reached = certificate.level_reached
    issued = certificate.issued
    for line in (
        f"{path}: {state}: {certificate.plugin.name} {certificate.plugin.version} on SGLang "
        f"{certificate.sglang.release} ({certificate.sglang.kind}): {certificate.verdict}, "
        + (f"level {reached} reached" if reached >= 0 else "no level reached"),
        f"issued {issued.at} by {issued.by}",
        *([f"signed by {signer}"] if signer else [certificate.note]),
        f"outcomes {certificate.outcomes}",
    ):
        say(harmless(line, kept=""))  # who wrote the file wrote these
    if found.faults or lacking:
        return 1
    if found.unknown:
        raise ContractsError(
            f"the plugin could not be compared: {found.unknown}",
            "verify it where the plugin is installed; the file itself shows no fault",
        )
    return 0


def _signer(path: Path, given: dict[str, Any]) -> str | None:
    """Who has signed a certificate; empty: nobody who may; None: nobody was asked for."""
    from sglang_contracts.certify.signature import place_of, signer_of

    allowed, name = given["require_allowed_signers"], given["require_signer"] or ""
    signature = given["require_signature"]
    if allowed is None:
        if name or signature is not None:
            raise ContractsError(
                "a signature is only as good as who may sign",
                "name the file of those with --allowed-signers FILE",
            )
        return None
    place = signature or place_of(path)
    if not place.exists():
        return ""
    return signer_of(path.read_bytes(), place, allowed, name)


def _repeated(certificate: Certificate, again: Again) -> list[str]:
    from sglang_contracts.certify.repeat import repeat
    from sglang_contracts.cli.progress import steps

    with steps(f"certifying {certificate.plugin.name} again", again.quiet) as bar:

        def progress(done: int, planned: int, _: Result | None) -> None:
            if bar is not None:
                bar(done, planned)

        return repeat(certificate, again.config, again.timeout, again.jobs, progress)


def sign(file: Path, key: Path) -> Path:
    """Sign a certificate that was written; gives where the signature is.

    Raises:
        ContractsError: It cannot be signed.
    """
    from sglang_contracts.certify.certificate import write_bytes
    from sglang_contracts.certify.signature import place_of, signed

    place = place_of(file)
    write_bytes(place, signed(file.read_bytes(), key))
    return place
