"""What whoever receives a certificate requires of it: each thing that it lacks, as a sentence.

A certificate says what came out, also where that is little. What it is worth is for its reader to
say: a level, a profile, a release, the plugin that was ordered.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from packaging.utils import canonicalize_name

from sglang_contracts.certify.certificate import Certificate
from sglang_contracts.suite.verdict import PASSED

PROFILES = ("quick", "full")
"""From little to much."""


@dataclass(frozen=True)
class Requirements:
    """What a certificate must say. What is None, empty or False is not required.

    Attributes:
        passed: Its verdict is *passed*, without exceptions.
        level: It has reached at least this level.
        profile: At least as much was tried.
        release: Of this SGLang release.
        installed: Of the real SGLang, not of a fake.
        plugin: Of this distribution: ``NAME`` or ``NAME==VERSION``.
        modes: These forward modes were exercised.
        self_contained: Nothing outside the certified distribution took part.
    """

    passed: bool = False
    level: int | None = None
    profile: str = ""
    release: str = ""
    installed: bool = False
    plugin: str = ""
    modes: tuple[str, ...] = ()
    self_contained: bool = False


def unmet(certificate: Certificate, wanted: Requirements) -> list[str]:
    """What of it a certificate does not meet; empty: it meets all."""
    return [*_of_its_result(certificate, wanted), *_of_its_subject(certificate, wanted)]


def _of_its_result(certificate: Certificate, wanted: Requirements) -> Iterator[str]:
    if wanted.passed and certificate.verdict != PASSED:
        yield f"it must have passed: its verdict is {certificate.verdict}"
    reached = certificate.level_reached
    if wanted.level is not None and reached < wanted.level:
        asked, told = certificate.level_asked, str(reached) if reached >= 0 else "none"
        more = f" (only level {asked} was asked for)" if asked < wanted.level else ""
        yield f"it must reach level {wanted.level}: it has reached {told}{more}"
    if wanted.profile and _rank(certificate.profile) < _rank(wanted.profile):
        yield f"it must be of the {wanted.profile} profile: it is of {certificate.profile}"
    done = {mode for mode, _, _ in certificate.exercised}
    lacking = [mode for mode in wanted.modes if mode not in done]
    if lacking:
        told = ", ".join(sorted(done)) or "none"
        yield f"forward mode {', '.join(lacking)} must be exercised: exercised was {told}"


def _of_its_subject(certificate: Certificate, wanted: Requirements) -> Iterator[str]:
    plugin, sglang = certificate.plugin, certificate.sglang
    if wanted.release and sglang.release != wanted.release:
        yield f"it must be of SGLang {wanted.release}: it is of {sglang.release}"
    if wanted.installed and sglang.kind != "installed":
        yield f"it must be of the real SGLang: it is of a {sglang.kind}"
    name, _, version = wanted.plugin.partition("==")
    if wanted.plugin and canonicalize_name(plugin.name) != canonicalize_name(name):
        yield f"it must be of {name}: it is of {plugin.name}"
    elif version and plugin.version != version:
        yield f"it must be of {name} {version}: it is of version {plugin.version}"
    if wanted.self_contained and certificate.outside:
        files = sorted(certificate.outside)
        more = f" and {len(files) - 3} more" if files[3:] else ""
        yield (f"nothing outside {plugin.name} may take part: {', '.join(files[:3])}{more} did")


def _rank(profile: str) -> int:
    return PROFILES.index(profile) if profile in PROFILES else -1
