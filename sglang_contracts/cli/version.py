"""The text of ``--version``."""

from __future__ import annotations


def version_text() -> str:
    """Tool version, and which releases are recorded, to which date."""
    from sglang_contracts import __version__

    lines = [f"sglang-contracts {__version__}"]
    try:
        from sglang_contracts.surface import load_catalog

        releases = load_catalog().releases
    except Exception as error:  # the version is printed whatever state the data are in
        lines.append(f"recorded releases cannot be read: {error}")
        return "\n".join(lines)
    if releases:
        said = f"{len(releases)} SGLang releases recorded: {releases[0]} to {releases[-1]}"
        lines.append(said + _as_of())
    else:
        lines.append("no SGLang release is recorded")
    return "\n".join(lines)


def _as_of() -> str:
    """Date on which the index was asked for what is shipped."""
    from sglang_contracts.errors import ContractsError
    from sglang_contracts.surface.roster import load_roster

    try:
        roster = load_roster()
    except ContractsError:
        return ""
    missing = f"; {len(roster.missing)} more could not be" if roster.missing else ""
    return f" (index of {roster.checked}{missing})"
