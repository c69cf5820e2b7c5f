"""The table of certified combinations: a folder of certificates, one row for each."""

from __future__ import annotations

from html import escape
from pathlib import Path

import msgspec

from sglang_contracts.certify.certificate import Certificate, digest_of, load_certificate
from sglang_contracts.errors import ContractsError

NEEDLESS = frozenset({"python", "system", "pytest", "hypothesis"})
"""Of the environment, what has a column of its own or decides nothing in production."""

COLUMNS = ("plugin", "SGLang", "Python", "torch", "further", "level", "verdict", "certified")


class Combination(msgspec.Struct, frozen=True):
    """What was certified together.

    Attributes:
        plugin: Name and version.
        sglang: The release.
        kind: ``installed``, or ``fake`` where the real one was not tried.
        python: Version.
        torch: Version; empty: it was not noted.
        further: Distribution → version, of what else the plugin locks.
        level: The highest that was reached.
        verdict: As in the certificate.
        at: When, UTC.
        file: Of the certificate, relative to the folder.
    """

    plugin: str
    sglang: str
    kind: str
    python: str
    torch: str
    further: dict[str, str]
    level: int
    verdict: str
    at: str
    file: str

    def row(self) -> tuple[str, ...]:
        """Its cells, in the order of :data:`COLUMNS`."""
        return (
            self.plugin,
            self.sglang if self.kind == "installed" else f"{self.sglang} ({self.kind})",
            self.python,
            self.torch,
            ", ".join(f"{name} {version}" for name, version in sorted(self.further.items())),
            str(self.level) if self.level >= 0 else "none",
            self.verdict,
            self.at[:10],
        )


def combinations(folder: Path) -> tuple[tuple[Combination, ...], tuple[str, ...]]:
    """What the certificates in a folder, and in those below it, were of.

    Args:
        folder: Where they lie; other JSON files are passed over.

    Returns:
        Them, by plugin and release, and a sentence on each that cannot be relied on.

    Raises:
        ContractsError: There is no such folder.
    """
    from packaging.version import Version

    if not folder.is_dir():
        raise ContractsError(f"there is no folder {folder}", "name one with certificates")
    found, said = list[Combination](), list[str]()
    for path in sorted(folder.rglob("*.json")):
        name = path.relative_to(folder).as_posix()
        if path.name != "certificate.json" and b'"issued"' not in path.read_bytes():
            continue
        try:
            certificate, _ = load_certificate(path)
        except ContractsError as error:
            said.append(f"{name}: {error.message}")
            continue
        if digest_of(certificate) != certificate.digest:
            said.append(f"{name}: its digest is not that of its content: it was changed")
            continue
        found.append(_of(certificate, name))
    found.sort(key=lambda each: (each.plugin, Version(each.sglang), each.at))
    return tuple(found), tuple(said)


def _of(certificate: Certificate, file: str) -> Combination:
    versions = dict(certificate.environment)
    return Combination(
        plugin=f"{certificate.plugin.name} {certificate.plugin.version}",
        sglang=certificate.sglang.release,
        kind=certificate.sglang.kind,
        python=versions.get("python", ""),
        torch=versions.get("torch", ""),
        further={
            name: version
            for name, version in versions.items()
            if name not in NEEDLESS | {"torch", "sglang"}
        },
        level=certificate.level_reached,
        verdict=certificate.verdict,
        at=certificate.issued.at,
        file=file,
    )


def markdown(found: tuple[Combination, ...]) -> str:
    """The table as Markdown."""
    lines = [f"| {' | '.join(COLUMNS)} |", f"|{'---|' * len(COLUMNS)}"]
    for each in found:
        cells = (cell.replace("|", "\\|") for cell in each.row())
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def html(found: tuple[Combination, ...]) -> str:
    """The table as a page of its own."""
    head = "".join(f"<th>{name}</th>" for name in COLUMNS)
    rows = [
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in each.row()) + "</tr>"
        for each in found
    ]
    title = "Certified combinations"
    return "\n".join(
        [
            "<!DOCTYPE html>",
            f'<html lang="en"><head><meta charset="utf-8"><title>{title}</title>',
            "<style>body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:64rem}"
            "table{border-collapse:collapse;width:100%}th,td{text-align:left;padding:.35rem .6rem;"
            "border-bottom:1px solid #8884}</style></head><body>",
            f"<h1>{title}</h1><table><tr>{head}</tr>",
            *rows,
            "</table></body></html>",
            "",
        ]
    )
