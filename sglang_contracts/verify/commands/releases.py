"""Which recorded releases a command is about."""

from __future__ import annotations

from collections.abc import Sequence

from packaging.specifiers import SpecifierSet
from packaging.version import Version

from sglang_contracts.errors import ContractsError, nearest_releases
from sglang_contracts.plugin.reading.claims import Claim

DEFAULT_MINORS = 10
"""How many X.Y.Z (with their post releases) are checked where nothing says which."""


def select_releases(
    recorded: Sequence[str],
    exact: Sequence[str] = (),
    specifiers: Sequence[str] = (),
    supported: str | None = None,
    everything: bool = False,
    claim: Claim | None = None,
) -> tuple[str, ...]:
    """The releases that are asked for, ascending.

    Args:
        recorded: All recorded releases, ascending.
        exact: Releases named one by one; each must be recorded.
        specifiers: Specifier sets as pip takes them; each must match something.
        supported: What the plugin's settings name, used where nothing is asked for.
        everything: Without a choice and without ``supported``, all of them instead of the newest
            ten minors.
        claim: What the plugin itself requires, used where its settings say nothing.

    Raises:
        ContractsError: A release is not recorded, or a specifier is broken or matches nothing.
    """
    if not recorded:
        raise ContractsError("no SGLang release is recorded", "sglang-contracts record VERSION")
    chosen: set[str] = {find_release(text, recorded) for text in exact}
    for text in specifiers:
        chosen.update(matching(text, recorded))
    if not exact and not specifiers:
        if everything:
            chosen.update(recorded)
        elif supported:
            if not Claim((supported,), "").is_beyond(recorded):
                chosen.update(matching(supported, recorded))
            chosen.add(recorded[-1])
        elif claim is not None and claim.specifiers:
            chosen.update(each for each in recorded if claim.admits(each))
            chosen.add(recorded[-1])
        else:
            chosen.update(newest_minors(recorded, DEFAULT_MINORS))
    return tuple(release for release in recorded if release in chosen)


def find_release(text: str, recorded: Sequence[str]) -> str:
    """The recorded release that ``text`` names (``v0.5.16`` and ``0.5.12-post1`` are fine, too).

    Raises:
        ContractsError: It is no version, or not recorded; the nearest ones are named.
    """
    try:
        wanted = Version(text.strip())
    except ValueError:  # InvalidVersion is one; so are more digits than Python reads
        shown = text if len(text) <= 40 else f"{text[:40]}..."
        raise ContractsError(
            f"'{shown}' is not a version", f"recorded are {recorded[0]} to {recorded[-1]}"
        ) from None
    for release in recorded:
        if Version(release) == wanted:
            return release
    near = ", ".join(nearest_releases(wanted, recorded))
    raise ContractsError(
        f"SGLang {text} is not recorded; nearest: {near}",
        "only final and post releases are recorded"
        if wanted.is_prerelease or wanted.local
        else f"sglang-contracts record {text} adds it to your cache, if the index has it",
    )


def matching(text: str, recorded: Sequence[str]) -> list[str]:
    """The recorded releases that a specifier set admits, as pip would take it.

    Raises:
        ContractsError: It is broken, or admits none of them.
    """
    try:
        specifier = SpecifierSet(text)
        found = [release for release in recorded if specifier.contains(release, prereleases=True)]
    except ValueError:  # InvalidSpecifier, or more digits than Python reads
        raise ContractsError(
            f"'{text}' is not a version specifier", "write one like '>=0.5.3,<0.5.13'"
        ) from None
    if not text.strip():  # admits all by PEP 440, but is an unset variable of a script
        raise ContractsError("the version specifier is empty", "write one like '>=0.5.3,<0.5.13'")
    if not found:
        raise ContractsError(
            f"no recorded release matches '{text}'",
            f"recorded are {recorded[0]} to {recorded[-1]}: see sglang-contracts releases",
        )
    return found


def newest_minors(recorded: Sequence[str], count: int) -> list[str]:
    """The releases of the newest ``count`` X.Y.Z, post releases included: those break, too."""
    minors = sorted({Version(release).release for release in recorded})[-count:]
    return [release for release in recorded if Version(release).release in minors]
