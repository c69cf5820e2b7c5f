"""What a plugin relies on, as names resolve in one release: the content of ``uses``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from sglang_contracts.plugin.ir.records import File, Use, UseKind
from sglang_contracts.plugin.plugin import load_plugin
from sglang_contracts.verify.answers.outcome import Outcome, Status
from sglang_contracts.verify.commands.analysis import Analysis
from sglang_contracts.verify.commands.used_surface import digest, used_forms
from sglang_contracts.verify.findings.finding import Location, PluginInfo, Report

if TYPE_CHECKING:
    from sglang_contracts.contract import Contract
    from sglang_contracts.surface import Catalog
    from sglang_contracts.verify.rules.check import Check

_ROLES = {
    UseKind.IMPORT: "import",
    UseKind.READ: "read",
    UseKind.WRITE: "write",
    UseKind.CALL: "call",
    UseKind.UNPACK: "call",
    UseKind.HOOK: "hook",
    UseKind.DOTTED: "string",
    UseKind.ITEM: "registry",
    UseKind.REGISTER: "registry",
    UseKind.PROBE: "probe",
    UseKind.MEMBER: "read",
}


def uses_of(
    root: Path | str,
    catalog: Catalog,
    release: str | None = None,
    *,
    exclude: Sequence[str] = (),
    known_as: Mapping[str, str] | None = None,
    contracts: Sequence[Contract] | None = None,
) -> Report:
    """What a plugin relies on.

    ``facts["uses"]`` is a list of ``{"symbol", "module", "role", "locations": [{"file", "line"}],
    "guarded": bool, "by_name": bool}``, sorted by module and symbol, as they resolve in
    ``release`` (the newest recorded one by default).
    """
    known = catalog.known(release) if release else catalog.releases[-1]
    analysis = Analysis(
        load_plugin(root, exclude),
        catalog,
        wanted=[known],
        known_as=known_as,
        contracts=contracts,
        history=False,
    )
    return inventory(analysis, known)


def uses_in(report: Report) -> list[dict[str, Any]]:
    """``facts["uses"]`` of an :func:`inventory`."""
    uses = report.facts["uses"]
    return uses if isinstance(uses, list) else []


class _Used(NamedTuple):
    """One symbol at one place."""

    symbol: str
    role: str
    place: Location
    guarded: bool
    by_name: bool
    missing: bool


def inventory(analysis: Analysis, release: str) -> Report:
    """Everything a plugin relies on.

    Args:
        analysis: Of the plugin; ``release`` has to be among its wanted ones.
        release: The release in which names are resolved.

    Returns:
        A report without releases. ``facts["uses"]``: ``symbol``, ``module``, ``role``,
        ``locations``, ``guarded`` (all its places are), ``by_name``, ``missing`` (from this
        release); by module and symbol.
    """
    grouped: dict[tuple[str, str], list[_Used]] = {}
    everything = [*_checked(analysis, release), *_given(analysis, release)]
    called = {(used.symbol, used.place.file, used.place.line) for used in everything
              if used.role == "call"}  # fmt: skip
    for used in everything:
        if used.role == "read" and (used.symbol, used.place.file, used.place.line) in called:
            continue  # reading it is how it is called
        grouped.setdefault((used.symbol, used.role), []).append(used)
    uses = [_fact(symbol, role, found) for (symbol, role), found in grouped.items()]
    uses.sort(key=lambda use: (use["module"], use["symbol"], use["role"]))
    plugin = analysis.plugin
    return Report(
        "uses",
        plugin=PluginInfo(plugin.name, plugin.version, plugin.path),
        notes=analysis.notes(),
        facts={
            "release": release,
            "files": len(plugin.files),
            "digest": digest(used_forms(uses, analysis.catalog.surface(release))),
            "uses": uses,
        },
    )


def _fact(symbol: str, role: str, found: list[_Used]) -> dict[str, Any]:
    head = symbol.partition(":")[0]
    return {
        "symbol": symbol,
        "module": "" if head in ("flag", "env") else head,
        "role": role,
        "locations": [
            {"file": place.file, "line": place.line}
            for place in sorted({Location(used.place.file, used.place.line) for used in found})
        ],
        "guarded": all(used.guarded for used in found),
        "by_name": all(used.by_name for used in found),
        "missing": any(used.missing for used in found),
    }


def _checked(analysis: Analysis, release: str) -> Iterator[_Used]:
    """Names in Python code."""
    timeline = analysis.timeline
    index = analysis.releases.index(release)
    for number, check in enumerate(timeline.checks):
        if check.kind not in ("use", "override"):
            continue
        outcome = timeline.entry(number, index).outcome
        if outcome.status is Status.BROKEN and not any(
            entry.fine for entry in timeline.history(number)
        ):
            continue  # no release has it: the plugin's own method, an attribute it makes itself
        file = analysis.plugin.files[check.file]
        if check.kind == "use" and _asked_of_kind(outcome, file.uses[check.number]):
            continue  # the read itself is counted
        role, place, guard, probe = _where(file, check)
        for symbol in _symbols(outcome):
            yield _Used(
                symbol,
                role,
                place,
                guarded=probe or bool(guard),
                by_name=bool(outcome.named),
                missing=outcome.status is Status.BROKEN,
            )


def _asked_of_kind(outcome: Outcome, use: Use) -> bool:
    """Whether a use only tells of what kind a field or result has to be."""
    return outcome.what in ("kind", "need") and use.kind is not UseKind.READ


def _where(file: File, check: Check) -> tuple[str, Location, int, bool]:
    if check.kind == "override":
        function = file.functions[check.number]
        return "override", Location(file.path, function.line), function.guard, False
    use = file.uses[check.number]
    probe = use.kind is UseKind.PROBE
    return _ROLES.get(use.kind, "use"), Location(file.path, use.line), use.guard, probe


def _symbols(outcome: Outcome) -> Iterator[str]:
    if outcome.status is Status.BROKEN:
        if outcome.symbol.startswith("sglang"):
            yield outcome.symbol
    elif outcome.status is Status.OK:
        for symbol in outcome.found:
            if symbol.module.partition(".")[0] == "sglang":
                yield symbol.name


def _given(analysis: Analysis, release: str) -> Iterator[_Used]:
    """Flags and environment variables, those that any recorded release knows."""
    index = analysis.releases.index(analysis.catalog.known(release))
    for given in analysis.given:
        if not analysis.launches.known(given):
            continue
        flag = given.name.startswith("-")
        missing = analysis.launches.state(index, given.bare)[0] is Status.BROKEN
        symbol = f"{'flag' if flag else 'env'}:{given.name}"
        role = "launch" if flag else "environment"
        yield _Used(symbol, role, given.location, False, False, missing)
