"""The dossier of ``upgrade``: the edits between two releases, and what they make needless."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from sglang_contracts.plugin.plugin import load_plugin
from sglang_contracts.plugin.reading.files import plain_text, python_text, read_sources
from sglang_contracts.surface.spelling import look_up
from sglang_contracts.verify.commands.analysis import Analysis
from sglang_contracts.verify.findings.finding import Finding, Location, Report, Severity
from sglang_contracts.verify.rules.registry import RULES
from sglang_contracts.verify.rules.rule import Edit

if TYPE_CHECKING:
    from sglang_contracts.contract import Contract
    from sglang_contracts.surface import Catalog

_SHOWN = 160
"""Characters of a source line that an edit shows."""


def upgrade_report(
    root: Path | str,
    catalog: Catalog,
    old: str,
    new: str,
    *,
    exclude: Sequence[str] = (),
    known_as: Mapping[str, str] | None = None,
    contracts: Sequence[Contract] | None = None,
) -> Report:
    """The dossier from one release to another: see :func:`dossier`."""
    start, end = catalog.known(old), catalog.known(new)
    analysis = Analysis(
        load_plugin(root, exclude),
        catalog,
        wanted=[start, end],
        known_as=known_as,
        contracts=contracts,
    )
    return dossier(analysis, root, start, end, exclude)


def dossier(
    analysis: Analysis,
    root: Path | str,
    old: str,
    new: str,
    exclude: Sequence[str] = (),
) -> Report:
    """What has to be done to move a plugin from one release to another.

    Args:
        analysis: Of the plugin; both releases have to be among its wanted ones.
        root: Where the plugin lies, to show its lines.
        old: The release it works with.
        new: The release it is to work with.
        exclude: Globs of files to leave out.

    Returns:
        A report of one release, ``new``, with all its findings. ``facts``: ``from``, ``to``;
        ``edits``, by file and line: ``file``, ``line``, ``rule``, ``severity``, ``symbol``,
        ``old`` (the line as it is), ``new`` (the form to use, where it is known), ``note``,
        ``since``, ``covers`` (recorded releases in which the new form works), ``works_since`` (the
        first from which it does so up to ``new``), ``both`` (it works in ``old``, too: no version
        check is needed), ``already`` (it is broken in ``old`` as
        well); ``needless``: guards that decide the same from ``new`` on and did not in ``old``.
    """
    report = analysis.report("upgrade", [new])
    before = {
        (finding.symbol, place.file, place.line)
        for finding in analysis.at(old)
        if finding.severity is not Severity.NOTE
        for place in finding.locations
    }
    lines = _lines(root, exclude)
    coverage = _Coverage(analysis.catalog)
    edits = [
        _edit(finding, place, lines, coverage, old, new)
        | {"already": (finding.symbol, place.file, place.line) in before}
        for finding in report.releases[0].findings
        if finding.severity is not Severity.NOTE
        for place in finding.locations or (Location("", 0),)
    ]
    edits.sort(key=lambda edit: (edit["file"], edit["line"], edit["symbol"], edit["rule"]))
    facts = {
        **report.facts,
        "from": old,
        "to": new,
        "edits": edits,
        "needless": _needless(analysis, old, new, lines),
    }
    return msgspec.structs.replace(report, facts=facts)


def _lines(root: Path | str, exclude: Sequence[str]) -> dict[str, list[str]]:
    """File → its lines."""
    found: dict[str, list[str]] = {}
    for source in read_sources(root, exclude).files:
        try:
            text = (
                python_text(source)
                if source.kind in ("python", "notebook")
                else plain_text(source.data)
            )
        except ValueError:
            continue
        found[source.path] = text.splitlines()
    return found


def _line(lines: Mapping[str, list[str]], file: str, number: int) -> str:
    text = lines.get(file, [])
    line = text[number - 1].strip() if 0 < number <= len(text) else ""
    return line if len(line) <= _SHOWN else line[: _SHOWN - 3] + "..."


class _Coverage:
    """In which recorded releases a suggested form works."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self.releases = lru_cache(maxsize=None)(self._releases)

    def _releases(self, spelling: str) -> tuple[str, ...]:
        return tuple(
            release
            for release in self._catalog.releases
            if look_up(self._catalog.surface(release), spelling) is not None
        )

    def run(self, covers: Sequence[str], release: str) -> str:
        """The first of the neighbouring releases around ``release`` that all are in ``covers``."""
        recorded = self._catalog.releases
        first = at = recorded.index(release)
        while at >= 0 and recorded[at] in covers:
            first, at = at, at - 1
        return recorded[first]

    def spelling(self, finding: Finding, release: str) -> str:
        """The whole spelling of what is suggested; empty if it is none of ``release``."""
        suggestion = finding.suggestion
        if suggestion is None:
            return ""
        module = finding.symbol.partition(":")[0]
        bare = re.sub(r"\(.*\)$", "", suggestion.symbol)
        for candidate in (suggestion.symbol, bare, suggestion.note, f"{module}:{bare}"):
            known = ":" in candidate or candidate.startswith("sglang.")
            if known and " " not in candidate and release in self.releases(candidate):
                return candidate
        return ""


def _edit(
    finding: Finding,
    place: Location,
    lines: Mapping[str, list[str]],
    coverage: _Coverage,
    old: str,
    new: str,
) -> dict[str, Any]:
    spelling = coverage.spelling(finding, new)
    covers = coverage.releases(spelling) if spelling else ()
    line = _line(lines, place.file, place.line)
    return {
        "file": place.file,
        "line": place.line,
        "rule": finding.rule,
        "severity": finding.severity.value,
        "symbol": finding.symbol,
        "old": line,
        "new": _new_form(finding, spelling, line),
        "note": finding.suggestion.note if finding.suggestion is not None else "",
        "since": finding.first_broken,
        "covers": list(covers),
        "works_since": coverage.run(covers, new) if covers else None,
        "both": old in covers and new in covers,
    }


def _new_form(finding: Finding, spelling: str, line: str) -> str:
    """The line as it could be, where that can be told; else the symbol to use."""
    if finding.suggestion is None:
        return ""
    last = _last(finding.symbol)
    edit = RULES[finding.rule].edit if finding.rule in RULES else Edit.NONE
    if edit is Edit.IMPORT and spelling:
        module, _, name = spelling.partition(":")
        was = finding.symbol.partition(":")[0]
        if line.startswith("import ") or not name:
            moved = re.sub(rf"(?<![\w.]){re.escape(was)}(?!\w)", module, line)
            return moved if moved != line else spelling
        if line.startswith("from ") and "." not in name:
            return f"from {module} import {name}" + (f" as {last}" if name != last else "")
    if edit is Edit.RENAME:
        renamed = re.sub(rf"\b{re.escape(last)}\b", _last(finding.suggestion.symbol), line)
        if renamed != line:
            return renamed
    return spelling or finding.suggestion.symbol


def _last(symbol: str) -> str:
    """``c`` of ``m:a.b.c``, the parameter of ``m:f(p)``."""
    parameter = re.search(r"\((\w+)\)$", symbol)
    if parameter:
        return parameter[1]
    return symbol.rpartition(":")[2].rpartition(".")[2]


def _needless(
    analysis: Analysis, old: str, new: str, lines: Mapping[str, list[str]]
) -> list[dict[str, Any]]:
    """Guards that go the same way in every release from ``new`` on, and another in ``old``."""
    checker = analysis.timeline.checker
    later = analysis.releases[analysis.releases.index(new) :]
    ways: dict[tuple[int, int, str], list[bool | None]] = {}
    for release in (old, *later):
        checker.state.evaluator.move(release)
        for number, file in enumerate(analysis.plugin.files):
            for guard in file.guards[1:]:
                if guard.kind == "if":
                    way = checker.state.evaluator.constants.condition(number, guard.condition)
                elif guard.kind == "try":
                    way = checker.state.guards.went(
                        number, guard.condition, file.attempts[guard.condition]
                    )
                else:
                    continue
                ways.setdefault((number, guard.line, guard.kind), []).append(way)
    found: dict[tuple[str, int], dict[str, Any]] = {}
    for (number, line, _), decided in sorted(ways.items()):
        each = len(decided) // (len(later) + 1)
        before, after = set(decided[:each]), set(decided[each:])
        if len(after) != 1 or None in after or None in before or before & after:
            continue
        path = analysis.plugin.files[number].path
        holds = after == {True}
        fact = {
            "file": path,
            "line": line,
            "text": _line(lines, path, line),
            "always": holds,
            "kind": "try" if _line(lines, path, line).startswith("try") else "condition",
        }
        found.setdefault((path, line), fact)
    return [found[place] for place in sorted(found)]
