"""Versions: what the plugin requires, supports, and was certified with, against what is here."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Mapping, Sequence

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet

from sglang_contracts.doctor.diagnosis import Status, check
from sglang_contracts.doctor.host import Host

SYMPTOM = "at start or in the first forward: a name is missing, or an operator is not found"


def _holds(specifier: str, version: str) -> bool:
    return SpecifierSet(specifier).contains(version, prereleases=True)


def _required_python(distribution: importlib.metadata.Distribution) -> str:
    return str(distribution.metadata.json.get("requires_python") or "")


@check(
    "versions.requirements",
    symptom=SYMPTOM,
    title="what the plugin requires is installed, in a version that it allows",
    mend="install the versions that the plugin requires (pip check lists them as well)",
)
def requirements(host: Host) -> tuple[Status, Sequence[str]]:
    """Hold the distribution's own metadata against the installed versions."""
    if not host.plugin:
        return Status.UNKNOWN, ["no plugin is named"]
    distribution = importlib.metadata.distribution(host.plugin)
    wrong, right = list[str](), list[str]()
    python = _required_python(distribution)
    if python:
        said = f"Python {host.python}, required {python}"
        (right if _holds(python, host.python) else wrong).append(said)
    for text in distribution.requires or ():
        try:
            required = Requirement(text)
        except InvalidRequirement:
            wrong.append(f"the requirement {text!r} cannot be read")
            continue
        if required.marker is not None and not required.marker.evaluate({"extra": ""}):
            continue
        version = host.version(required.name)
        said = f"{required.name} {version or 'is not installed'}, required {required.specifier}"
        fits = bool(version) and _holds(str(required.specifier), version)
        (right if fits else wrong).append(said)
    return (Status.FOUND, wrong) if wrong else (Status.OK, right)


@check(
    "versions.supported",
    symptom=SYMPTOM,
    title="the installed SGLang is one that the plugin supports",
    mend="install a supported release, or run: sglang-contracts check PLUGIN --release V",
)
def supported(host: Host) -> tuple[Status, Sequence[str]]:
    """Hold ``supported`` of the plugin's settings against the installed SGLang."""
    version, wanted = host.version("sglang"), host.settings.supported
    if not version:
        return Status.UNKNOWN, ["SGLang is not installed here"]
    if not wanted:
        return Status.UNKNOWN, [f"SGLang {version}; the plugin does not declare 'supported'"]
    said = [f"SGLang {version}, supported {wanted}"]
    return (Status.OK if _holds(wanted, version) else Status.FOUND), said


@check(
    "versions.combination",
    symptom=SYMPTOM,
    title="all versions are those of the combination that the plugin locks",
    mend="install the locked combination: what differs was never tried together",
)
def combination(host: Host) -> tuple[Status, Sequence[str]]:
    """Hold ``combination`` of the plugin's settings against this host."""
    wanted = host.settings.combination
    if not wanted:
        return Status.UNKNOWN, [
            "the plugin locks no combination ([tool.sglang-contracts.combination])"
        ]
    wrong, right, open_ = differences(host, wanted)
    if wrong:
        return Status.FOUND, [*wrong, *open_]
    return (Status.UNKNOWN, open_) if open_ else (Status.OK, right)


def differences(host: Host, wanted: Mapping[str, str]) -> tuple[list[str], list[str], list[str]]:
    """What of a combination is another version here, what is as locked, and what is not known."""
    wrong, right, open_ = list[str](), list[str](), list[str]()
    for name, specifier in wanted.items():
        version = host.python if name == "python" else host.version(name)
        if not version:
            open_.append(f"{name}: no such distribution is installed, locked {specifier}")
            continue
        try:
            fits = _holds(specifier, version)
        except InvalidSpecifier:
            fits = version == specifier
        (right if fits else wrong).append(f"{name} {version}, locked {specifier}")
    return wrong, right, open_
