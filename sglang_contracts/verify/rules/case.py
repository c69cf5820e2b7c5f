"""What every finding needs: dates, a place, a severity, a suggestion that is kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from sglang_contracts.plugin.ir.nodes import Dotted, Node, Not, Tried, Truth, Unknown
from sglang_contracts.plugin.ir.records import Chain, File, Use, UseKind
from sglang_contracts.surface.symbol import Symbol
from sglang_contracts.verify.answers.outcome import Outcome
from sglang_contracts.verify.findings.finding import (
    Finding,
    Location,
    Severity,
    Silenced,
    Suggestion,
)
from sglang_contracts.verify.rules.check import Check
from sglang_contracts.verify.rules.history import Entry, Timeline
from sglang_contracts.verify.rules.rule import COMES_WITH, NOT_ANY_MORE, Rule
from sglang_contracts.verify.silences.reasons import GUARDED, TURNED_OFF
from sglang_contracts.verify.silences.silence import Silence, Weight
from sglang_contracts.verify.suggest.replacements import Replacements
from sglang_contracts.verify.values.signature_fit import text as signature_text

_ROLES = {
    UseKind.IMPORT: "use",
    UseKind.READ: "use",
    UseKind.WRITE: "patch",
    UseKind.CALL: "call",
    UseKind.UNPACK: "call",
    UseKind.HOOK: "hook",
    UseKind.DOTTED: "use",
    UseKind.ITEM: "use",
    UseKind.REGISTER: "use",
    UseKind.PROBE: "guard",
}

_LONGEST = 240
"""Characters of a signature that a message shows."""


class Case(NamedTuple):
    """A broken check in one release, with what history says."""

    number: int
    check: Check
    entry: Entry
    at: int
    first: int
    last_ok: int | None
    good: int
    """A release in which it is fine; usually the last one before."""


class Judging:
    """One plugin's checks, and what makes a finding of one.

    Args:
        timeline: All checks over all releases.
        replacements: Where suggestions come from.
        rules: Id → rule, for contracts that name the rule of a clause.
    """

    def __init__(
        self, timeline: Timeline, replacements: Replacements, rules: Mapping[str, Rule]
    ) -> None:
        self.timeline = timeline
        self.rules = rules
        self.replacements = replacements
        self.releases = timeline.releases
        self.files: Sequence[File] = timeline.checker.state.files
        self.catalog = replacements.catalog
        self._brought: dict[tuple[str, int], int] = {}
        self._suggested: dict[tuple[str, str, int, int], Suggestion | None] = {}
        self.evaluator = timeline.checker.state.evaluator
        self.call_of = calls_by_node(timeline)
        """(file, node of a call) → number of its check."""
        self.groups = alternatives_by_group(timeline)
        """(file, group) → numbers of the checks of which one is enough."""
        self.agrees: dict[tuple[int, int], bool] = {}
        self.never_there: dict[int, bool] = {}
        """Check → whether it breaks in every recorded release."""
        self.registered = frozenset(
            use.name for file in self.files for use in file.uses if use.kind is UseKind.REGISTER
        )
        """Keys that the plugin puts into tables: modules into ``sys.modules``, too."""
        self.required: dict[tuple[str, str, int | None], bool] = {}
        self.silenced: list[Silenced] = []
        """What was found and not reported since the list was emptied."""
        self.courses: dict[tuple[int, str], tuple[bytes, bytes]] = {}
        self.coverage: dict[tuple[int, int], tuple[bool | None, ...] | None] = {}
        self.chains: list[tuple[int, File, Chain, list[tuple[bool, ...]]]] | None = None

    def finding(self, case: Case, *, rule: Rule, symbol: str, **more: object) -> Finding:
        """A finding with its dates; what is not there yet says which release brings it.

        What is not given is as the rule has it: ``severity`` (less where something catches it),
        ``role``; and the place is that of the case.
        """
        weight = more.setdefault("severity", self.severity(case, rule.severity))
        if isinstance(weight, Weight):
            more.update(severity=weight.severity, softened=weight.softened)
        if "locations" not in more:
            more["locations"] = self.location(case)
        dates = {
            "last_ok": self.releases[case.last_ok] if case.last_ok is not None else None,
            "first_broken": self.releases[case.first],
        }
        named = case.entry.outcome.named
        if case.last_ok is None and case.good > case.at and "detail" not in more:
            if rule.absent:
                more["detail"] = COMES_WITH.format(release=self.comes_with(symbol, case))
            else:
                more["detail"] = NOT_ANY_MORE.format(release=self.releases[case.good])
        told = {"rule": rule.id, "role": rule.role, "symbol": symbol, "by_name": bool(named)}
        facts = {**dates, **told, **more}
        return Finding(**facts)  # type: ignore[arg-type]

    def comes_with(self, symbol: str, case: Case) -> str:
        """The release that brings what a use needs; all that stands in its line may come later."""
        if not (symbol.endswith(")") or ":" not in symbol):
            return self.releases[case.good]  # a name is all that is asked for
        key = (symbol, case.good)
        first = self._brought.get(key)
        if first is None:
            first = case.good
            while first > 0 and self.has(symbol, self.releases[first - 1]):
                first -= 1
            self._brought[key] = first
        return self.releases[max(first, case.at + 1)]

    def has(self, symbol: str, release: str) -> bool:
        """Whether a release has something that a finding names: a name, or a parameter."""
        surface = self.catalog.surface(release)
        if ":" not in symbol:
            return surface.record_id(symbol) is not None
        name, _, parameter = symbol.partition("(")
        found = surface.parse(name)
        if found is None or not parameter:
            return found is not None
        parameters = self.replacements.parameters(found, surface) or ()
        return any(each.name == parameter.rstrip(")") for each in parameters)

    def good(self, case: Case) -> Outcome:
        """The outcome in the release in which the check is fine."""
        return self.timeline.entry(case.number, case.good).outcome

    def use(self, case: Case) -> tuple[File, Use]:
        """The use that a case is about, and its file."""
        file = self.files[case.check.file]
        return file, file.uses[case.check.number]

    def location(self, case: Case) -> tuple[Location, ...]:
        """Where in the plugin it stands."""
        file = self.files[case.check.file]
        if case.check.kind == "use":
            use = file.uses[case.check.number]
            return (Location(file.path, use.line, use.column),)
        qual, _, name = case.check.name.rpartition(".")
        record = file.classes[qual]
        return (Location(file.path, record.lines.get(name, record.line)),)

    def instead_of_symbol(
        self, case: Case, written: str, found: Symbol | None
    ) -> Suggestion | None:
        """What to use instead of a name."""
        forward = case.good < case.at
        old = self.releases[case.good]
        return self.kept(
            case,
            ("symbol", written, case.good),
            lambda new: self.replacements.of_symbol(written, found, old, new, forward=forward),
        )

    def instead_of_member(self, case: Case, found: Symbol) -> Suggestion | None:
        """The same for a member."""
        if case.good > case.at:
            return None  # not there yet: nothing took its place
        old = self.releases[case.good]
        return self.kept(
            case,
            ("member", found.name, case.good),
            lambda new: self.replacements.of_member(found, old, new),
        )

    def kept(
        self,
        case: Case,
        key: tuple[str, str, int],
        make: Callable[[str], Suggestion | None],
    ) -> Suggestion | None:
        """The suggestion of the first release that lacks the thing, while what it names is there.

        It is looked for where the thing went; where that led to nothing, or to what is gone again,
        it is looked for in the release that is asked for. What was said of releases in between is
        of no account: of one release the same is said whichever others are looked at.
        """
        new = self.releases[case.at]
        if case.good < case.first < case.at:
            first = (*key, case.first)
            if first not in self._suggested:
                self._suggested[first] = make(self.releases[case.first])
            made = self._suggested[first]
            if made is not None and self.is_there(made, new):
                return made
        return make(new)

    def is_there(self, suggestion: Suggestion, release: str) -> bool:
        """Whether what was suggested before is still there."""
        if suggestion.evidence == "contract":
            return False  # a contract speaks for ranges of releases: ask again, it is cheap
        for spelling in (suggestion.note, suggestion.symbol):
            if ":" in spelling and " " not in spelling:
                return self.catalog.surface(release).parse(spelling) is not None
            if spelling.startswith("sglang.") and " " not in spelling:
                return self.catalog.surface(release).has_module(spelling)
        return False

    def severity(self, case: Case, worst: Severity = Severity.ERROR) -> Weight:
        """How bad it is, by what catches it and whether there is another way."""
        reach = case.entry.reach
        weight = Weight(worst)
        if GUARDED.holds(
            reach.caught and (reach.way_out or case.last_ok is None or self.taken_up(case))
        ):
            return weight.at_most(Severity.NOTE, GUARDED)
        if TURNED_OFF.holds(reach.caught):
            return weight.at_most(Severity.WARNING, TURNED_OFF)
        return weight

    def place(self, check: Check) -> Location:
        """Where a check stands in the plugin."""
        file, name = self.files[check.file], check.name
        if check.kind == "clause":
            candidate = self.timeline.checker.candidates[check.number]
            check = Check(candidate.kind, candidate.file, candidate.number, candidate.name)
        if check.kind == "use":
            use = file.uses[check.number]
            return Location(file.path, use.line, use.column)
        if check.kind == "class":
            return Location(file.path, file.classes[name].line)
        return Location(file.path, file.functions[check.number].line)

    def silence(self, case: Case, reason: Silence, symbol: str = "") -> None:
        """Note that nothing is said of a case, and why."""
        outcome = case.entry.outcome
        made = Silenced(reason.id, symbol or outcome.symbol, self.place(case.check), outcome.what)
        self.silenced.append(made)

    def taken_up(self, case: Case) -> bool:
        """Whether all who ask for what a ``try`` gave have another way where it gave nothing."""
        if case.check.kind != "use":
            return False
        file = self.files[case.check.file]
        guard, attempts = file.uses[case.check.number].guard, set()
        while guard:
            record = file.guards[guard]
            if record.kind == "try":
                attempts.add(record.condition)
            guard = record.parent
        asking = []
        for each in file.guards[1:]:
            held: Node = file.nodes[each.condition] if each.kind == "if" else Unknown()
            positive = each.positive
            while type(held) is Not:
                held, positive = file.nodes[held.condition], not positive
            if type(held) is Truth and positive:
                made = file.nodes[held.value]
                if type(made) is Tried and made.attempt in attempts:
                    asking.append(each.way_out and not each.refuses)
        return bool(asking) and all(asking)

    def signature(self, symbol: Symbol | None, surface: object) -> str:
        """A signature as text, cut to what a message shows."""
        if symbol is None:
            return ""
        parameters = self.replacements.parameters(symbol, surface)  # type: ignore[arg-type]
        if parameters is None:
            return ""
        short = symbol.qual.removesuffix(".__init__").rsplit(".", 1)[-1]
        text = signature_text(short, parameters)
        if len(text) <= _LONGEST:
            return text
        return text[: text.rindex(", ", 0, _LONGEST)] + ", ...)"


def calls_by_node(timeline: Timeline) -> dict[tuple[int, int], int]:
    """(file, node of a call) → number of its check."""
    found: dict[tuple[int, int], int] = {}
    for number, check in enumerate(timeline.checks):
        if check.kind == "use":
            use = timeline.checker.state.files[check.file].uses[check.number]
            if use.kind is UseKind.CALL:
                found[(check.file, use.node)] = number
    return found


def alternatives_by_group(timeline: Timeline) -> dict[tuple[int, int], list[int]]:
    """(file, group) → numbers of the checks of which one is enough."""
    found: dict[tuple[int, int], list[int]] = {}
    for number, check in enumerate(timeline.checks):
        if check.kind == "use":
            group = timeline.checker.state.files[check.file].uses[check.number].group
            if group:
                found.setdefault((check.file, group), []).append(number)
    for place, numbers in found.items():
        named = [number for number in numbers if names_a_member(timeline, number)]
        found[place] = named or numbers  # that the module is there alone is not enough then
    return found


def names_a_member(timeline: Timeline, number: int) -> bool:
    """Whether a check is of a string that names what is in a module: ``("module", "name")``."""
    check = timeline.checks[number]
    file = timeline.checker.state.files[check.file]
    node = file.nodes[file.uses[check.number].node]
    return type(node) is Dotted and ":" in node.text


def role_of(use: Use) -> str:
    """How a use relies on something, as findings and ``uses`` say it."""
    return _ROLES.get(use.kind, "use")
