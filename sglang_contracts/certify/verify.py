"""Holds a certificate against itself, the installed plugin and this suite."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import msgspec

from sglang_contracts import __version__
from sglang_contracts.certify import outside
from sglang_contracts.certify.certificate import (
    Certificate,
    canonical,
    digest_of,
    load_certificate,
)
from sglang_contracts.certify.consistency import contradictions
from sglang_contracts.certify.digests import combined, plugin_files, suite_files
from sglang_contracts.errors import ContractsError


@dataclass(frozen=True)
class Verification:
    """What was found.

    Attributes:
        certificate: What was verified.
        faults: Sentences; empty: it is as it was written, and so are plugin and suite.
        unknown: Why the plugin could not be compared; empty: it was.
    """

    certificate: Certificate
    faults: tuple[str, ...]
    unknown: str = ""


def verify(path: Path, installed: bool = True) -> Verification:
    """Verify a certificate.

    Args:
        path: Its file.
        installed: Also hold the installed plugin and this suite to it.

    Raises:
        ContractsError: It is no certificate.
    """
    certificate, data = load_certificate(path)
    faults = []
    if data != canonical(msgspec.to_builtins(certificate)):
        faults.append("it is not in canonical form: it was changed after it was written")
    if certificate.digest != digest_of(certificate):
        faults.append("its digest does not belong to its content: it was changed")
    if combined(certificate.plugin.files) != certificate.plugin.digest:
        faults.append("the plugin's digest does not belong to the files listed")
    suite = certificate.suite
    same_suite = suite.version == __version__ and suite.digest == combined(suite_files())
    faults += contradictions(certificate, same_suite)
    unknown = ""
    if installed:
        try:
            faults += _plugin(certificate)
            faults += outside.changed(certificate.outside)
        except ContractsError as error:
            unknown = error.message
        if suite.version != __version__:
            faults.append(
                f"it was made by version {suite.version} of the suite; this is {__version__}"
            )
        elif not same_suite:
            faults.append("the suite (its code, its fakes or its contracts) is not what it was")
    return Verification(certificate, tuple(faults), unknown)


def _plugin(certificate: Certificate) -> list[str]:
    stated, found = certificate.plugin.files, plugin_files(certificate.plugin.name)
    if stated == found:
        return []
    changed = sorted(n for n in stated.keys() & found.keys() if stated[n] != found[n])
    lost, new = sorted(stated.keys() - found.keys()), sorted(found.keys() - stated.keys())
    parts = [
        f"{word} {', '.join(names[:5])}" + (f" and {len(names) - 5} more" if names[5:] else "")
        for word, names in (("changed:", changed), ("missing:", lost), ("new:", new))
        if names
    ]
    return [f"the installed plugin is not what was certified ({'; '.join(parts)})"]
