"""What a certificate says, and its one canonical form.

The form is JSON with sorted keys, one-space indentation, UTF-8 and a newline at the end; there is
one way to write a given content, so a file that differs from it in one byte is rejected. The digest
covers all of it but itself. A digest shows that nothing was changed by accident; it is no
signature: who can write the file can write the digest.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from sglang_contracts.errors import ContractsError
from sglang_contracts.files import read_regular, write_atomically

SCHEMA = 2
KIND = "sglang-contracts certificate"
NOTE = (
    "The digest shows that this file is as it was written: integrity, not a signature. Who issued "
    "it is only what the issuer says."
)
MAX_BYTES = 16 << 20
LONGEST = 20_000
"""Characters of a text: what a plugin raises may have any length, and people read certificates."""


class Outcome(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How one check came out."""

    id: str
    level: int
    title: str
    outcome: str
    """``pass``, ``skip``, ``expected``, ``fail`` or ``error``."""
    reason: str
    """Of a skip or an expected failure: a sentence."""
    message: str
    """Of a failure or an error."""
    cause: str
    """Why, in a line, where many checks may fail for the same reason; else empty."""
    crash: bool
    """The backend raised something, beside what the check is about."""
    reproduction: str
    """Python that fails alone for the same reason."""
    milliseconds: int
    cells: tuple[str, ...]
    """What it exercised."""
    omitted: tuple[str, ...]
    """Sentences on parts of it that did not apply."""
    clauses: tuple[str, ...]


class Plugin(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What was tested."""

    name: str
    version: str
    digest: str
    """Over :attr:`files`."""
    wheel: str
    """Digest of the wheel that was installed, where pip noted it."""
    files: dict[str, str]


class Suite(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What tested it."""

    version: str
    digest: str
    """Over code, fakes and contracts."""


class Sglang(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What it was tested against."""

    release: str
    kind: str
    """``installed`` or ``fake``."""
    contracts: str
    """Digest of the parts of the release that the contracts touch; an equal one needs no retest."""


class Dependency(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A distribution that every run needs, as it was installed."""

    name: str
    version: str
    digest: str
    """Of the installer's record of its files."""


class Issued(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Who says so, and when."""

    by: str
    at: str
    """UTC, ``YYYY-MM-DDThh:mm:ssZ``."""


class Certificate(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The whole of it."""

    schema: int
    kind: str
    note: str
    issued: Issued
    plugin: Plugin
    sglang: Sglang
    suite: Suite
    environment: dict[str, str]
    dependencies: tuple[Dependency, ...]
    """What the suite and SGLang need, as far as the run has loaded it."""
    outside: dict[str, str]
    """Every other file that the run has loaded, or was told to read, and that is not the plugin's:
    ``distribution:path``, a path, or ``temporary:path`` → digest."""
    capabilities: dict[str, Any]
    profile: str
    seed: int
    level_asked: int
    level_reached: int
    """-1: not even level 0."""
    mostly_skipped: tuple[int, ...]
    """Levels of which more checks were skipped than held: reached, but on little evidence."""
    verdict: str
    """``passed``, ``passed with exceptions`` (expected failures), ``unknown`` or ``failed``."""
    planned: tuple[str, ...]
    not_run: tuple[str, ...]
    ended: str
    """How the run ended where it ended before its time, and during which check; else empty."""
    irregular: tuple[str, ...]
    """What stood among the results that no check has written: the run shows nothing."""
    remarks: tuple[str, ...]
    """What else was noticed of the run: processes that did not end by themselves."""
    checks: tuple[Outcome, ...]
    exercised: tuple[tuple[str, str, int], ...]
    """Forward mode, dtype, page size."""
    not_exercised: tuple[str, ...]
    serving: dict[str, Any]
    """Of level 5: the server, what was measured of it, and what was drawn; empty below it."""
    outcomes: str
    """sha256 over what came out alone, without times and texts: equal in two runs that agree."""
    digest: str
    """sha256 over the canonical form without this field."""


def plain(value: Any) -> Any:
    """A value all of whose texts can be written and read: without halves of characters, and cut."""
    if isinstance(value, str):
        text = value.encode("utf-8", "backslashreplace").decode()
        if len(text) <= LONGEST:
            return text
        return f"{text[:LONGEST]}\n... and {len(text) - LONGEST} characters more"
    if isinstance(value, Mapping):
        return {plain(key): plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    return value


def canonical(content: Mapping[str, Any]) -> bytes:
    """The one form of a content."""
    text = json.dumps(content, sort_keys=True, indent=1, ensure_ascii=False, allow_nan=False)
    return (text + "\n").encode("utf-8")


def sealed(certificate: Certificate) -> Certificate:
    """The certificate with its digests, all of its texts :func:`plain`."""
    content = plain(msgspec.to_builtins(certificate))
    certificate = msgspec.convert(content, Certificate)
    certificate = msgspec.structs.replace(certificate, outcomes=outcomes_of(certificate))
    return msgspec.structs.replace(certificate, digest=digest_of(certificate))


def digest_of(certificate: Certificate) -> str:
    """The digest that belongs to its content."""
    content = msgspec.to_builtins(certificate)
    del content["digest"]
    return hashlib.sha256(canonical(content)).hexdigest()


def outcomes_of(certificate: Certificate) -> str:
    """The digest over what came out: of two runs that agree it is the same.

    Over plugin, release, level, profile and seed as well: what was tried is a part of what was
    found. Not over times, messages, the machine, or who issued it.
    """
    content = {
        "plugin": [certificate.plugin.name, certificate.plugin.version],
        "sglang": [certificate.sglang.release, certificate.sglang.kind],
        "tried": [certificate.level_asked, certificate.profile, certificate.seed],
        "verdict": [certificate.verdict, certificate.level_reached],
        "checks": [[each.id, each.level, each.outcome, each.cells] for each in certificate.checks],
        "not run": certificate.not_run,
        "exercised": certificate.exercised,
    }
    return hashlib.sha256(canonical(content)).hexdigest()


def write_certificate(certificate: Certificate, path: Path) -> None:
    """Write it, whole or not at all."""
    write_bytes(path, canonical(msgspec.to_builtins(certificate)))


def write_bytes(path: Path, data: bytes) -> None:
    """Write a file of the report, whole or not at all.

    Raises:
        ContractsError: It cannot be written.
    """
    write_atomically(path, data, "choose another --out")


def load_certificate(path: Path) -> tuple[Certificate, bytes]:
    """A certificate and its bytes as they stand in the file.

    Raises:
        ContractsError: It cannot be read, or is no certificate of this schema.
    """
    hint = "name the certificate.json that certify --out has written"
    try:
        data = read_regular(path, MAX_BYTES)
    except OSError as error:
        raise ContractsError(f"cannot read {path}: {error.strerror or error}", hint) from error
    try:
        content = json.loads(data.decode("utf-8"))
        if not isinstance(content, dict) or content.get("kind") != KIND:
            raise ContractsError(f"{path} is no certificate of sglang-contracts", hint)
        if content.get("schema") != SCHEMA:
            raise ContractsError(
                f"{path} has schema {content.get('schema')!r}; this version reads {SCHEMA}",
                "verify it with the version of sglang-contracts that issued it",
            )
        certificate = msgspec.convert(content, Certificate, strict=True)
        digest_of(certificate)  # what has no canonical form (NaN, say) is no certificate
    except (ValueError, RecursionError, msgspec.ValidationError) as error:
        raise ContractsError(f"{path} is no certificate: {error}", hint) from error
    return certificate, data


def schema() -> dict[str, Any]:
    """The JSON schema of a certificate; ``docs/schemas`` has it, and a test compares them."""
    return msgspec.json.schema(Certificate)
