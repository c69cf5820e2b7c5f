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
        lines.append(f"{len(releases)} SGLang releases recorded: {releases[0]} to {releases[-1]}")
    else:
        lines.append("no SGLang release is recorded")
    return "\n".join(lines)
