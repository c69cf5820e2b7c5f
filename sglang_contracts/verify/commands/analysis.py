"""One plugin over all recorded releases: findings, what is left open, and the verdicts."""

from __future__ import annotations

import functools
import glob
import shlex
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from sglang_contracts.errors import ContractsError
from sglang_contracts.plugin.ir.nodes import Dotted, Import
from sglang_contracts.plugin.ir.records import File, UseKind
from sglang_contracts.plugin.plugin import Plugin
from sglang_contracts.verify.answers.lens import Lens
from sglang_contracts.verify.findings.finding import (
    Finding,
    Location,
    Note,
    PluginInfo,
    ReleaseReport,
    Report,
    Severity,
    Unresolved,
    Verdict,
)
from sglang_contracts.verify.findings.merge import merge
from sglang_contracts.verify.rules.case import Judging
from sglang_contracts.verify.rules.clause_candidates import clauses_of
from sglang_contracts.verify.rules.detectors import Detectors
from sglang_contracts.verify.rules.history import Timeline
from sglang_contracts.verify.rules.judge import Told, told_at
from sglang_contracts.verify.rules.launch_flags import Given, by_keyword
from sglang_contracts.verify.rules.launch_word_gone import Launches
from sglang_contracts.verify.rules.looked_at import looked_at
from sglang_contracts.verify.rules.registry import MERGES_WITH, RULES
from sglang_contracts.verify.rules.switch_default_flipped import Defaults
from sglang_contracts.verify.rules.unresolved import in_any_release
from sglang_contracts.verify.silences import reasons
from sglang_contracts.verify.silences.silence import Silence
from sglang_contracts.verify.suggest.call_forms import said_by
from sglang_contracts.verify.suggest.replacements import Replacements
from sglang_contracts.verify.values.evaluator import Evaluator

if TYPE_CHECKING:
    from sglang_contracts.contract import Contract
    from sglang_contracts.surface import Catalog


MECHANISM = "sglang.srt.plugins"
"""Where SGLang loads plugins and their hooks; a release without it runs none of them."""


class Analysis:
    """One plugin over all recorded releases; findings are made when they are asked for."""

    def __init__(
        self,
        plugin: Plugin,
        catalog: Catalog,
        *,
        wanted: Sequence[str] | None = None,
        known_as: Mapping[str, str] | None = None,
        contracts: Sequence[Contract] | None = None,
        history: bool = True,
    ) -> None:
        self.plugin = plugin
        self.catalog = catalog
        self.contracts = shipped_contracts() if contracts is None else tuple(contracts)
        self.releases = catalog.releases
        if not self.releases:
            raise ContractsError("no release is recorded", "sglang-contracts record V records one")
        evaluator = Evaluator(
            plugin,
            Lens(catalog, self.releases[0]),
            _names(self.contracts, known_as),
            _distinctive(self.contracts),
        )
        indices = None if wanted is None else [self.releases.index(each) for each in wanted]
        checker = Detectors(evaluator, clauses_of(self.contracts))
        self.timeline = Timeline(checker, self.releases, indices, history)
        replacements = Replacements(catalog, said_by(self.contracts))
        self.judging = Judging(self.timeline, replacements, RULES)
        self.launches = Launches(catalog, replacements)
        self.defaults = Defaults(catalog, plugin.files)
        self.given = [
            Given(
                use.name,
                use.text if use.count else None,
                Location(file.path, use.line, use.column),
                use.program,
            )
            for file in plugin.files
            for use in file.uses
            if use.kind in (UseKind.FLAG, UseKind.ENVIRONMENT)
        ]
        self.given += [each for file in plugin.files for each in by_keyword(file)]
        self._held: dict[int, tuple[Finding, ...]] = {}
        self._told: dict[int, Told] = {}
        self._mechanism_files = frozenset(
            file.path
            for file in plugin.files
            for node in file.nodes
            if type(node) is Import and (node.module + ".").startswith(MECHANISM + ".")
        )

    def at(self, release: str) -> tuple[Finding, ...]:
        """The findings in one release."""
        index = self.releases.index(self.catalog.known(release))
        held = self._held.get(index)
        if held is None:
            told = self._told[index] = told_at(self.judging, index)
            found = [*told.findings, *self.launches.at(self.given, index)]
            found += self.defaults.at(index)
            told.silenced.extend(self.defaults.silenced_at(index))
            if not self.loads(index):
                found = [self._unloaded(each) for each in found]
            held = self._held[index] = merge(found, MERGES_WITH)
        return held

    def loads(self, index: int) -> bool:
        """Whether a release could load the plugin at all: it has the mechanism the plugin uses."""
        if not self._mechanism_files:
            return True
        return self.catalog.surface(self.releases[index]).has_module(MECHANISM)

    @property
    def _known(self) -> bool:
        """Whether all that may use SGLang could be read: unknown is never compatible."""
        if any(file.unread for file in self.plugin.files):
            return False
        python = [file for file in self.plugin.files if file.path.endswith((".py", ".ipynb"))]
        return not python or any(not file.problem for file in python)

    def _loads(self, release: str) -> bool:
        return self.loads(self.releases.index(release))

    def _unloaded(self, finding: Finding) -> Finding:
        """In a release that never runs a file, what is missing for it is a note."""
        everywhere = all(each.file in self._mechanism_files for each in finding.locations)
        if reasons.NOT_LOADED.holds(everywhere):
            return _note(finding, reasons.NOT_LOADED)
        return finding

    def report(self, command: str, releases: Sequence[str], **facts: object) -> Report:
        """The report of a command."""
        return Report(
            command,
            tuple(self._release(release) for release in releases),
            PluginInfo(self.plugin.name, self.plugin.version, self.plugin.path),
            (*self.notes(), *unloaded_note([r for r in releases if not self._loads(r)])),
            {"files": len(self.plugin.files), "uses": self.plugin.uses, **facts},
        )

    def _release(self, release: str) -> ReleaseReport:
        """Findings and verdict of one release, and what it leaves open."""
        index = self.releases.index(self.catalog.known(release))
        findings = tuple(self._apart(each) for each in self.at(release))
        open_ends = (*self._always_open, *self._told[index].unresolved)
        unresolved = tuple(dict.fromkeys(each for each in open_ends if not self._is_test(each)))
        takes = self._takes or bool(findings)  # by the names that its objects go by
        known = self._known and self._loads(release) and not unresolved and takes
        made = release_report(release, findings, known)
        silenced = tuple(self._told[index].silenced)
        counted = looked_at(self.timeline, index, len({each.symbol for each in unresolved}))
        return msgspec.structs.replace(
            made, unresolved=unresolved, silenced=silenced, looked_at=counted
        )

    @functools.cached_property
    def _always_open(self) -> tuple[Unresolved, ...]:
        """What cannot be told of whatever release."""
        return in_any_release(self.plugin.files)

    @functools.cached_property
    def _takes(self) -> bool:
        """Whether the plugin takes anything from SGLang: else no verdict says anything."""
        launched = (UseKind.FLAG, UseKind.ENVIRONMENT)
        return any(
            any(isinstance(node, (Import, Dotted)) for node in file.nodes)
            or any(use.kind in launched for use in file.uses)
            for file in self.plugin.files
        )

    @functools.cached_property
    def _tests(self) -> frozenset[str]:
        """Files of the plugin's own tests; none where it has nothing else."""
        paths = {file.path for file in self.plugin.files}
        tests = frozenset(path for path in paths if is_test_file(path))
        return tests if tests < paths else frozenset()

    def _is_test(self, open_end: Unresolved) -> bool:
        return open_end.location.file in self._tests

    def _apart(self, finding: Finding) -> Finding:
        """A finding in the plugin's tests alone is a note: it decides no verdict."""
        places = finding.locations
        if reasons.TEST_FILE.holds(
            bool(places) and all(each.file in self._tests for each in places)
        ):
            return _note(finding, reasons.TEST_FILE)
        return finding

    def notes(self) -> tuple[Note, ...]:
        """Files that were skipped, or read in part."""
        alone = len(self.plugin.files) == 1
        skipped = tuple(_skipped(file, alone) for file in self.plugin.files if file.problem)
        if self._takes or skipped:
            return skipped
        return (Note("nothing is taken from SGLang here, so that no release says anything of it"),)


def _note(finding: Finding, reason: Silence) -> Finding:
    """The finding as a note, for a reason where it was none before."""
    if finding.severity is Severity.NOTE:
        return finding
    return msgspec.structs.replace(finding, severity=Severity.NOTE, softened=reason.id)


def is_test_file(path: str) -> bool:
    """Whether a file belongs to the plugin's tests, by the names that pytest looks for."""
    *folders, name = path.split("/")
    return (
        "tests" in folders
        or "test" in folders
        or name == "conftest.py"
        or (name.endswith(".py") and (name.startswith("test_") or name.endswith("_test.py")))
    )


def _skipped(file: File, alone: bool) -> Note:
    """That a file was skipped; and where it may use SGLang what follows, and what to do."""
    place = Location(file.path, file.problem_line) if file.problem_line else None
    text = f"{file.path} was skipped: {file.problem}"
    if not file.unread:
        return Note(text, place)
    without = shlex.quote(glob.escape(file.path))
    return Note(
        f"{text}; it may use SGLang, so that no release is known to be compatible",
        place,
        "mend it" if alone else f"mend it, or leave it out with --exclude {without}",
        unread=file.path,
    )


def release_report(
    release: str, findings: tuple[Finding, ...], known: bool = True
) -> ReleaseReport:
    """The report on one release, with its verdict.

    Args:
        release: The release.
        findings: Those in it.
        known: Whether nothing was left open: else its verdict is at best unknown.
    """
    verdict = Verdict.COMPATIBLE if known else Verdict.UNKNOWN
    if any(each.severity is Severity.ERROR for each in findings):
        verdict = Verdict.BROKEN
    return ReleaseReport(release, verdict, findings, known)


def unloaded_note(never: Sequence[str]) -> tuple[Note, ...]:
    """Why a verdict is unknown: a release that never loads the plugin shows nothing."""
    if not never:
        return ()
    span = never[0] if len(never) == 1 else f"{never[0]} ... {never[-1]}"
    return (
        Note(
            f"{MECHANISM} is not in SGLang {span}: it never loads the plugin, so that nothing "
            "is known of it there"
        ),
    )


def shipped_contracts() -> tuple[Contract, ...]:
    """The contracts that come with the tool."""
    from sglang_contracts.contract import load_contracts

    return load_contracts()


def _names(
    contracts: Sequence[Contract], known_as: Mapping[str, str] | None
) -> dict[str, tuple[str, ...]]:
    """Conventional names: those of contracts, and the plugin's own, which win."""
    from sglang_contracts.contract.model import known_names

    names = dict(known_names(tuple(contracts)))
    names.update({name: (spelling,) for name, spelling in (known_as or {}).items()})
    return names


def _distinctive(contracts: Sequence[Contract]) -> dict[str, tuple[str, ...]]:
    """Attributes whose name alone tells what is meant."""
    return {
        clause.name: clause.owner
        for contract in contracts
        for clause in contract.clauses
        if clause.distinctive
    }
