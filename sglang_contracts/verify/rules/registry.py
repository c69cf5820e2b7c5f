"""Every place of a plugin that can break, and how it fares in the present release."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from sglang_contracts.contract.model import Clause
from sglang_contracts.plugin.ir.nodes import Call, Dotted
from sglang_contracts.plugin.ir.records import File, Use, UseKind
from sglang_contracts.verify.answers.outcome import UNKNOWN, Outcome, Status
from sglang_contracts.verify.clauses.behaviour import Behaviours
from sglang_contracts.verify.clauses.plugin_places import Candidate, candidates
from sglang_contracts.verify.rules.argument_place import misplaced
from sglang_contracts.verify.rules.enum_text import member_text
from sglang_contracts.verify.rules.guarded import Reach
from sglang_contracts.verify.rules.hook_missing import Duties
from sglang_contracts.verify.rules.operation_on_kind import KEY, UNPACK, Needs
from sglang_contracts.verify.values.evaluator import Evaluator

_MAGIC = frozenset(
    [
        "__init_subclass__",
        "__class_getitem__",
        "__new__",
        "__post_init__",
        "__del__",
        "__repr__",
        "__str__",
        "__eq__",
        "__hash__",
        "__enter__",
        "__exit__",
        "__len__",
        "__iter__",
        "__getattr__",
        "__getattribute__",
        "__setattr__",
        "__reduce__",
        "__getstate__",
        "__setstate__",
        "__bool__",
        "__contains__",
        "__getitem__",
        "__setitem__",
        "__call__",
        "__next__",
        "__lt__",
        "__gt__",
        "__le__",
        "__ge__",
        "__ne__",
    ]
)


class Check(NamedTuple):
    """One thing to look at in each release."""

    kind: str
    """``use``, ``override``, ``class``, ``clause``."""
    file: int
    number: int
    name: str = ""
    """OVERRIDE: qualified name of the method; CLASS: of the class."""


class Checker(Duties):
    """Works out outcomes of checks in the present release of an evaluator."""

    def __init__(self, evaluator: Evaluator, clauses: Sequence[Clause] = ()) -> None:
        super().__init__(evaluator)
        self.behaviours = Behaviours(self, clauses)
        self.candidates = candidates(evaluator, clauses)
        self.needs = Needs(self)

    def checks(self) -> list[Check]:
        """Everything there is to look at."""
        found: list[Check] = []
        for index, file in enumerate(self.files):
            for number, use in enumerate(file.uses):
                if use.kind not in (UseKind.FLAG, UseKind.ENVIRONMENT):
                    found.append(Check("use", index, number))
            for qual, record in file.classes.items():
                if not self.evaluator.index.may_derive(index, qual):
                    continue
                found.append(Check("class", index, 0, qual))
                for name, number in record.methods.items():
                    if name not in _MAGIC:
                        found.append(Check("override", index, number, f"{qual}.{name}"))
        for number, each in enumerate(self.candidates):
            found.append(Check("clause", each.file, number, each.name))
        return found

    def outcome(self, check: Check) -> Outcome:
        """How a check fares in the present release, whoever guards it."""
        if check.kind == "use":
            file = self.files[check.file]
            return self.use(check.file, file, file.uses[check.number])
        if check.kind == "override":
            return self.override(check.file, check.number, check.name)
        if check.kind == "clause":
            return self.behaviours.outcome(self.candidates[check.number])
        return self.complete(check.file, check.name)

    def use(self, index: int, file: File, use: Use) -> Outcome:
        """One use."""
        match use.kind:
            case UseKind.IMPORT:
                return self.imported(file.nodes[use.node])
            case UseKind.READ | UseKind.PROBE:
                return self.attribute(index, file, use)
            case UseKind.WRITE:
                outcome = self.attribute(index, file, use)
                return self.patched(index, use, outcome) or outcome
            case UseKind.CALL:
                return self.call(index, file, use)
            case UseKind.UNPACK:
                outcome = self.unpacked(index, file, use)
                if type(file.nodes[use.node]) is Call:
                    return outcome
                return self._or_needed(outcome, index, file, use, UNPACK)
            case UseKind.NEED if use.name == "places":
                return misplaced(self, index, file, use)
            case UseKind.NEED if use.name in ("text", "format"):
                return member_text(self, index, file, use)
            case UseKind.NEED:
                return self.needs.outcome(index, file, use, use.name)
            case UseKind.HOOK:
                return self.hook(index, file, use)
            case UseKind.DOTTED:
                node = file.nodes[use.node]
                return self.dotted(node.text) if type(node) is Dotted else UNKNOWN
            case UseKind.ITEM:
                outcome = self.registry(index, file, use)
                return self._or_needed(outcome, index, file, use, KEY)
            case UseKind.REGISTER:
                return self.registry(index, file, use)
        return UNKNOWN

    def _or_needed(self, outcome: Outcome, index: int, file: File, use: Use, need: str) -> Outcome:
        """What is known otherwise, or else what the kind of the value tells."""
        if outcome.status is not Status.UNKNOWN:
            return outcome
        return self.needs.outcome(index, file, use, need)

    def guard_of(self, candidate: Candidate) -> int:
        """The guard a candidate stands under."""
        file = self.files[candidate.file]
        if candidate.kind == "use":
            return file.uses[candidate.number].guard
        if candidate.kind == "method":
            return file.functions[candidate.number].guard
        return file.classes[candidate.name].guard


def outcome_of(checker: Checker, check: Check) -> tuple[Outcome, Callable[[], Reach]]:
    """An outcome, and how to find out whether its code runs."""
    outcome = checker.outcome(check)
    file = checker.files[check.file]
    if check.kind == "use":
        guard = file.uses[check.number].guard
    elif check.kind == "clause":
        guard = checker.guard_of(checker.candidates[check.number])
    elif check.kind == "override":
        guard = file.functions[check.number].guard
    else:
        guard = file.classes[check.name].guard
    return outcome, lambda: checker.reach(check.file, guard, outcome.what)


__all__ = ["Check", "Checker", "Reach", "outcome_of"]
