"""What works out how each place of a plugin fares in the present release."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sglang_contracts.contract.model import Clause
from sglang_contracts.plugin.ir.nodes import Call
from sglang_contracts.plugin.ir.records import File, OwnClass, Use, UseKind
from sglang_contracts.verify.answers.outcome import UNKNOWN, Outcome, Status
from sglang_contracts.verify.rules import attribute_unset, hook_missing, override_signature
from sglang_contracts.verify.rules.check import Check
from sglang_contracts.verify.rules.clause_behaviour import Behaviours
from sglang_contracts.verify.rules.clause_candidates import Candidate, candidates
from sglang_contracts.verify.rules.detection import Detection
from sglang_contracts.verify.rules.guarded import Reach
from sglang_contracts.verify.rules.registry import CATCHES, DETECTS
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


def detect_use(state: Detection, index: int, file: File, use: Use) -> Outcome:
    """One use: what the first cause says that can tell, in the registry's order."""
    found = UNKNOWN
    for detect in DETECTS.get(use.kind, ()):
        outcome = detect(state, index, file, use)
        if outcome.status is not Status.UNKNOWN or outcome.silence:
            return outcome
        if not found.what:
            found = outcome
    return found


class Detectors:
    """Works out outcomes of checks in the present release of an evaluator.

    Args:
        evaluator: Works out values in the present release.
        clauses: Behaviours and obligations that contracts state.
    """

    def __init__(self, evaluator: Evaluator, clauses: Sequence[Clause] = ()) -> None:
        self.state = Detection(evaluator, detect_use, CATCHES)
        self.behaviours = Behaviours(self.state, clauses)
        self.candidates = candidates(evaluator, clauses)

    def checks(self) -> list[Check]:
        """Everything there is to look at."""
        found: list[Check] = []
        for index, file in enumerate(self.state.files):
            for number, use in enumerate(file.uses):
                if use.kind not in (UseKind.FLAG, UseKind.ENVIRONMENT):
                    found.append(Check("use", index, number))
            for qual, record in file.classes.items():
                if not self.state.evaluator.index.may_derive(index, qual):
                    continue
                found.append(Check("class", index, 0, qual))
                for name, number in record.methods.items():
                    if name not in _MAGIC:
                        found.append(Check("override", index, number, f"{qual}.{name}"))
                for name, number in self._wrapped(index, record):
                    found.append(Check("override", index, number, f"{qual}.{name}"))
            found += attribute_unset.checks(self.state, index, file)
        for number, each in enumerate(self.candidates):
            found.append(Check("clause", each.file, number, each.name))
        return found

    def _wrapped(self, index: int, record: OwnClass) -> list[tuple[str, int]]:
        """Overrides made by a call: ``verify = timed(Base.verify)``, what the wrapper returns."""
        made = []
        for name, values in record.attributes.items():
            if len(values) != 1 or name in record.methods or name in _MAGIC:
                continue
            if type(self.state.files[index].nodes[values[0]]) is Call:
                own = self.state.evaluator.index.own_function(index, values[0])
                if own is not None and own[0] == index:
                    made.append((name, own[1]))
        return made

    def outcome(self, check: Check) -> Outcome:
        """How a check fares in the present release, whoever guards it."""
        if check.kind == "use":
            file = self.state.files[check.file]
            return detect_use(self.state, check.file, file, file.uses[check.number])
        if check.kind == "override":
            return override_signature.detect_override(
                self.state, check.file, check.number, check.name
            )
        if check.kind == "clause":
            return self.behaviours.outcome(self.candidates[check.number])
        if check.kind == attribute_unset.KIND:
            return attribute_unset.detect_unset(self.state, check)
        return hook_missing.detect_missing_hooks(self.state, check.file, check.name)

    def guard_of(self, candidate: Candidate) -> int:
        """The guard a candidate stands under."""
        file = self.state.files[candidate.file]
        if candidate.kind == "use":
            return file.uses[candidate.number].guard
        if candidate.kind == "method":
            return file.functions[candidate.number].guard
        return file.classes[candidate.name].guard

    def outcome_of(self, check: Check) -> tuple[Outcome, Callable[[], Reach]]:
        """An outcome, and how to find out whether its code runs."""
        outcome = self.outcome(check)
        file = self.state.files[check.file]
        if check.kind == "use" or (check.kind == attribute_unset.KIND and not check.name):
            guard = file.uses[check.number].guard
        elif check.kind == "clause":
            guard = self.guard_of(self.candidates[check.number])
        elif check.kind == "override" or (check.kind == attribute_unset.KIND and check.name):
            guard = file.functions[check.number].guard
        else:
            guard = file.classes[check.name].guard
        return outcome, lambda: self.state.guards.reach(check.file, guard, outcome.what)
