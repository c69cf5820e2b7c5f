"""What constants and conditions of a plugin come to in a release: versions, above all.

A plugin's own functions are followed with what they are called with: ``at_least("0.5.13")`` is as
good as the comparison it makes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from packaging.specifiers import SpecifierSet
from packaging.version import Version

from sglang_contracts.plugin.ir.nodes import (
    Always,
    And,
    Attr,
    Call,
    Compare,
    Dotted,
    Found,
    Has,
    HasNamed,
    Import,
    Kept,
    Literal,
    LocalClass,
    LocalFunction,
    Never,
    Not,
    Number,
    OneOf,
    Or,
    Param,
    ParsedInt,
    ParsedSpecifier,
    ParsedVersion,
    PluginName,
    Probe,
    Registered,
    Select,
    SglangVersion,
    Slice,
    Takes,
    Text,
    Tried,
    Truth,
    TupleOf,
    Unpack,
    VersionNumbers,
    Went,
)
from sglang_contracts.plugin.ir.records import Attempt
from sglang_contracts.verify.answers.lens import Lens
from sglang_contracts.verify.answers.memory import Underway
from sglang_contracts.verify.values import class_kinds
from sglang_contracts.verify.values import constant_values as made
from sglang_contracts.verify.values.ask import Ask
from sglang_contracts.verify.values.constant_values import UNSURE, Constant
from sglang_contracts.verify.values.feature_questions import FeatureQuestions
from sglang_contracts.verify.values.members import Members
from sglang_contracts.verify.values.plugin_index import PluginIndex
from sglang_contracts.verify.values.value import (
    OwnClassRef,
    OwnFunctionRef,
    OwnModuleRef,
    OwnObject,
    Place,
    Value,
)

DEEPEST = 16
_LITERALS: dict[str, bool | None] = {"None": None, "true": True, "false": False}
_CONDITIONS = frozenset(
    {Always, Never, Compare, Has, HasNamed, Takes, Found, Registered, Not, And, Or, Went, Truth}
)

StatusOf = Callable[[int, int, Attempt], bool]
"""File, number and record of a ``try`` → whether nothing in its body is certainly missing."""


class Frame(NamedTuple):
    """A call of a function of the plugin, while its result is worked out."""

    file: int
    function: int
    arguments: dict[int, Place]
    """Position of a parameter → what is passed."""
    rest: tuple[Place, ...]
    """What ``*args`` takes."""
    outer: Frame | None


class Constants:
    """Works out constants and conditions in the present release of a lens."""

    def __init__(
        self,
        index: PluginIndex,
        lens: Lens,
        members: Members,
        questions: FeatureQuestions,
        underway: Underway,
        ask: Ask,
    ) -> None:
        self.index = index
        self.files = index.files
        self.lens = lens
        self.members = members
        self.questions = questions
        self.underway = underway
        self.ask = ask
        self.as_release: str | None = None
        """A release to suppose in place of the present one, for what hangs on the number alone."""
        self.asked_version = False
        """Whether SGLang's version was asked for since this was last set back."""
        self.status_of: StatusOf | None = None
        """Set by the checker, which knows what is certainly missing."""
        self._asking: dict[tuple[int, int, str], int] = {}
        """Attributes whose truth is being worked out, with the place of the value that asked."""

    def constant(
        self, index: int, node: int, frame: Frame | None = None, depth: int = 0
    ) -> Constant:
        """What a node is, as a Python value; :data:`UNSURE` where that cannot be told."""
        if node == 0 or depth > DEEPEST:
            return UNSURE
        held = self.files[index].nodes[node]

        def inner(part: int) -> Constant:
            return self.constant(index, part, frame, depth + 1)

        if type(held) is Attr:
            return self._attribute(index, held, frame, depth)
        if type(held) is Call:
            return self._called(index, held, frame, depth)
        if type(held) is Literal:
            return _LITERALS.get(held.kind, UNSURE)
        if type(held) is Text:
            return held.text
        if type(held) is Number:
            return held.number
        if type(held) is SglangVersion:
            self.lens.touch("release")
            self.asked_version = True
            return self.as_release or self.lens.release
        if type(held) is TupleOf:
            return _all_of([inner(each) for each in held.elements])
        if type(held) is ParsedVersion:
            return made.parsed_version(inner(held.text))
        if type(held) is ParsedSpecifier:
            return made.parsed_specifier(inner(held.text))
        if type(held) is VersionNumbers:
            return made.numbers(inner(held.text), held.count)
        if type(held) is ParsedInt:
            return made.parsed_int(inner(held.text))
        if type(held) is Kept:
            values = [inner(each) for each in self.files[index].kept.get(held.name, ())]
            return made.agreed([each for each in values if each is not None])
        if type(held) is Slice:
            return made.part(inner(held.base), held.lower, held.upper)
        if type(held) is Unpack:
            return made.element(inner(held.base), held.position)
        if type(held) is Param:
            return self._passed(index, held, frame, depth)
        if type(held) is PluginName:
            found = self.index.named(held)
            return self.constant(*found, depth=depth + 1) if found is not None else UNSURE
        if type(held) is Tried:
            return inner(held.handler if self.went(index, held.attempt) is False else held.body)
        if type(held) is Select:
            chosen = self.condition(index, held.condition, frame, depth + 1)
            if chosen is not None:
                return inner(held.then if chosen else held.otherwise)
            return made.agreed([inner(held.then), inner(held.otherwise)])
        if type(held) is OneOf:
            return made.agreed([inner(each) for each in held.values])
        if type(held) in _CONDITIONS:
            answer = self.condition(index, node, frame, depth + 1)
            return UNSURE if answer is None else answer
        return UNSURE

    def _attribute(self, index: int, held: Attr, frame: Frame | None, depth: int) -> Constant:
        base = self.constant(index, held.base, frame, depth + 1)
        if isinstance(base, Version):
            return made.attribute(base, held.name)
        if isinstance(base, str):  # ``distribution("sglang").version``
            return base if held.name == "version" else UNSURE
        for each in self.ask.value(index, held.base).alternatives[:1]:
            if type(each) is OwnModuleRef:
                found = self.index.own_name(each.name, held.name)
                return self.constant(*found, depth=depth + 1) if found is not None else UNSURE
            if type(each) is OwnObject or type(each) is OwnClassRef:
                return self._own_attribute(each.file, each.qual, held.name, depth)
        return UNSURE

    def _own_attribute(self, file: int, qual: str, name: str, depth: int) -> Constant:
        """What a class of the plugin sets once."""
        record = self.files[file].classes.get(qual)
        if record is None:
            return UNSURE
        if name in record.methods:
            method = self.files[file].functions[record.methods[name]]
            if method.kind != "property":
                return UNSURE
            return self._result(Frame(file, record.methods[name], {}, (), None), depth)
        values = record.attributes.get(name, [])
        if len(values) == 1 and type(self.files[file].nodes[values[0]]) is not Literal:
            return self.constant(file, values[0], depth=depth + 1)
        return UNSURE

    def _called(self, index: int, held: Call, frame: Frame | None, depth: int) -> Constant:
        callee = self.files[index].nodes[held.callee]
        form = self.files[index].forms[held.form]
        if type(callee) is Attr:
            base = self.constant(index, callee.base, frame, depth + 1)
            if isinstance(base, (str, SpecifierSet)):
                arguments = [
                    self.constant(index, each, frame, depth + 1) for each in form.positional
                ]
                return made.called(base, callee.name, arguments)
        called = self.frame(index, held, frame)
        return self._result(called, depth) if called is not None else UNSURE

    def frame(self, index: int, held: Call, outer: Frame | None) -> Frame | None:
        """A call of one of the plugin's functions, its arguments bound to parameters."""
        own = self.index.own_function(index, held.callee)
        skip = 0
        if own is None:
            own = self.index.own_called(index, held.callee)
            if own is not None:
                skip = int(self.files[own[0]].functions[own[1]].kind != "static")
        if own is None:
            found = self.ask.value(index, held.callee).alternatives
            each = found[0] if len(found) == 1 else None
            if type(each) is not OwnFunctionRef:
                return None
            own, skip = (each.file, each.function), int(each.bound)
        record = self.files[own[0]].functions[own[1]]
        form = self.files[index].forms[held.form]
        if form.star or form.double_star:
            return None
        names = [each.name for each in record.parameters]
        plain = sum(each.kind < 2 for each in record.parameters)
        given = [(index, each) for each in form.positional]
        arguments = {skip + at: each for at, each in enumerate(given[: plain - skip])}
        for keyword, value in form.keywords.items():
            if keyword in names:
                arguments[names.index(keyword)] = (index, value)
        return Frame(own[0], own[1], arguments, tuple(given[plain - skip :]), outer)

    def _result(self, frame: Frame, depth: int) -> Constant:
        """What a call of a function of the plugin gives."""
        if depth > DEEPEST:
            return UNSURE
        return made.agreed(
            [
                self.constant(frame.file, node, frame, depth + 1)
                for node in self._returns(frame, depth)
            ]
        )

    def _returns(self, frame: Frame, depth: int) -> list[int]:
        """Nodes of those ``return`` statements that a call may come to."""
        record = self.files[frame.file].functions[frame.function]
        if record.is_generator:
            return []
        found = []
        for node, guard in zip(record.returns, record.return_guards, strict=False):
            runs = self.runs(frame.file, guard, frame, depth + 1)
            if runs is False:
                continue
            found.append(node)
            if runs:
                break
        return found

    def _passed(self, index: int, held: Param, frame: Frame | None, depth: int) -> Constant:
        """A parameter, in a call that is being followed."""
        if frame is None or (frame.file, frame.function) != (index, held.function):
            return UNSURE
        record = self.files[index].functions[held.function].parameters[held.position]
        if record.kind == 2:
            return _all_of([self.constant(*each, frame.outer, depth + 1) for each in frame.rest])
        passed = frame.arguments.get(held.position)
        if passed is None:
            return UNSURE
        return self.constant(*passed, frame.outer, depth + 1)

    # -- conditions --------------------------------------------------------------------------------

    def runs(
        self, index: int, guard: int, frame: Frame | None = None, depth: int = 0
    ) -> bool | None:
        """Whether code under a guard runs in the present release."""
        file = self.files[index]
        sure = True
        while guard:
            record = file.guards[guard]
            if record.kind == "typing":
                return False
            if record.kind == "handler":
                if self.went(index, record.condition):
                    return False
            elif record.kind == "if":
                answer = self.condition(index, record.condition, frame, depth)
                if answer is None:
                    sure = False
                elif answer != record.positive:
                    return False
            guard = record.parent
        return True if sure else None

    def condition(
        self, index: int, node: int, frame: Frame | None = None, depth: int = 0
    ) -> bool | None:
        """Whether a condition holds in the present release; None where that cannot be told."""
        if node == 0 or depth > DEEPEST:
            return None
        held = self.files[index].nodes[node]
        if type(held) is Truth:
            return self.truth(index, held.value, depth + 1, frame)
        if type(held) is Not:
            inner = self.condition(index, held.condition, frame, depth + 1)
            return None if inner is None else not inner
        if type(held) is And:
            parts = [self.condition(index, each, frame, depth + 1) for each in held.conditions]
            return False if False in parts else None if None in parts else True
        if type(held) is Or:
            parts = [self.condition(index, each, frame, depth + 1) for each in held.conditions]
            return True if True in parts else None if None in parts else False
        if type(held) is Has:
            return self._has(self._handed(index, held.base, frame), held.name)
        if type(held) is Compare:
            one = self.constant(index, held.left, frame, depth + 1)
            other = self.constant(index, held.right, frame, depth + 1)
            return made.compared(held.sign, one, other)
        if type(held) is HasNamed:
            name = self.constant(index, held.name, frame, depth + 1)
            if not isinstance(name, str):
                return None
            return self._has(self._handed(index, held.base, frame), name)
        if type(held) is Takes:
            return self.questions.takes(index, held.function, held.name)
        if type(held) is Found:
            dotted = self.files[index].nodes[held.dotted]
            return self.questions.module_found(dotted.text) if type(dotted) is Dotted else None
        if type(held) is Registered:
            table = self.questions.table(index, self.files[index].nodes[held.table])
            return self.questions.registered_in(table, held.key) if table is not None else None
        if type(held) is Went:
            return self.went(index, held.attempt)
        if type(held) is Always:
            return True
        if type(held) is Never:
            return False
        return self.truth(index, node, depth + 1, frame)

    def _has(self, value: Value, name: str) -> bool | None:
        """Whether a value has an attribute."""
        if name in class_kinds.NAMES:
            return class_kinds.held(self.lens, value.alternatives, name)
        look = self.members.look(value, name)
        if look.lost:
            return False
        return True if look.found else None

    def _handed(self, index: int, node: int, frame: Frame | None) -> Value:
        """A value; of a parameter, in a call that is being followed, what is passed."""
        held = self.files[index].nodes[node]
        while frame and type(held) is Param:
            if (frame.file, frame.function) != (index, held.function):
                break
            passed = frame.arguments.get(held.position)
            if passed is None:
                break
            (index, node), frame = passed, frame.outer
            held = self.files[index].nodes[node]
        return self.ask.value(index, node)

    def truth(
        self, index: int, node: int, depth: int = 0, frame: Frame | None = None
    ) -> bool | None:
        """Whether a value is true; None where that cannot be told."""
        if node == 0 or depth > DEEPEST:
            return None
        held = self.files[index].nodes[node]
        if type(held) is Attr:
            return self._attribute_true(index, held, frame, depth)
        if type(held) is Call:
            return self._call_true(index, held, frame, depth)
        if type(held) is Literal:
            return {"None": False, "true": True, "false": False}.get(held.kind)
        if type(held) is Tried:
            went = self.went(index, held.attempt)
            chosen_part = held.handler if went is False else held.body
            return self.truth(index, chosen_part, depth + 1, frame)
        if type(held) is Select:
            chosen = self.condition(index, held.condition, frame, depth + 1)
            if chosen is not None:
                part = held.then if chosen else held.otherwise
                return self.truth(index, part, depth + 1, frame)
            one = self.truth(index, held.then, depth + 1, frame)
            return one if one == self.truth(index, held.otherwise, depth + 1, frame) else None
        if type(held) is Import or type(held) is Dotted:
            return True if self.ask.value(index, node).alternatives else None
        if type(held) is LocalFunction or type(held) is LocalClass:
            return True
        if type(held) is PluginName:
            found = self.index.named(held)
            return self.truth(*found, depth=depth + 1) if found is not None else None
        if type(held) is Probe:
            return self._probed(index, held, depth)
        if type(held) is Kept:
            return self._kept_true(index, held, depth)
        if type(held) in _CONDITIONS:
            return self.condition(index, node, frame, depth + 1)
        constant = self.constant(index, node, frame, depth + 1)
        return None if constant is UNSURE else bool(constant)

    def _kept_true(self, index: int, held: Kept, depth: int) -> bool | None:
        """A name that is ``None`` at first: what it is bound to later may be an answer."""
        kept = self.files[index].kept.get(held.name, [])
        answers = {self.truth(index, each, depth + 1) for each in kept} if kept else {False}
        if answers == {True}:  # it is true only where all that it is bound to are answers
            asked = all(type(self.files[index].nodes[each]) in _CONDITIONS for each in kept)
            return True if asked else None
        return False if answers == {False} else None

    def _probed(self, index: int, held: Probe, depth: int) -> bool | None:
        base = self.files[index].nodes[held.value]
        if type(base) is Attr:
            look = self.members.look(self.ask.value(index, base.base), base.name)
            if look.lost:
                return self.truth(index, held.default, depth + 1)
            if look.found and look.found[0].kind in ("method", "function", "class"):
                return True
        return None

    def _attribute_true(
        self, index: int, held: Attr, frame: Frame | None, depth: int
    ) -> bool | None:
        base = self.ask.value(index, held.base)
        first = base.alternatives[0] if base.alternatives else None
        if type(first) is OwnModuleRef:
            found = self.index.own_name(first.name, held.name)
            return self.truth(*found, depth=depth + 1) if found is not None else None
        kept = self.questions.kept_answers(index, held.base, held.name)
        if kept:
            return self.agreed(index, (held.base, held.name), kept)
        look = self.members.look(base, held.name)
        if look.found:
            return True if look.found[0].kind in ("method", "class") else None
        constant = self._attribute(index, held, frame, depth)
        return None if constant is UNSURE else bool(constant)

    def _call_true(self, index: int, held: Call, frame: Frame | None, depth: int) -> bool | None:
        called = self.frame(index, held, frame)
        if called is None:
            constant = self._called(index, held, frame, depth)
            return None if constant is UNSURE else bool(constant)
        answers = {
            self.truth(called.file, node, depth + 1, called)
            for node in self._returns(called, depth)
        }
        return answers.pop() if len(answers) == 1 else None

    def agreed(self, index: int, attribute: tuple[int, str], kept: Sequence[Place]) -> bool | None:
        """The answer that all assignments of an attribute agree on."""
        key = (index, *attribute)
        if key in self._asking:  # ``self.on = not self.on`` keeps no answer
            self.underway.cut_at(self._asking[key])
            return None
        self._asking[key] = len(self.underway) - 1
        try:
            answers = {self.truth(*each) for each in kept}
        finally:
            del self._asking[key]
        return answers.pop() if len(answers) == 1 else None

    def went(self, index: int, attempt: int) -> bool | None:
        """Whether a ``try`` goes through: False where something in it is certainly missing."""
        if self.status_of is None:
            return None
        return self.status_of(index, attempt, self.files[index].attempts[attempt])


def _all_of(parts: Sequence[Constant]) -> Constant:
    """A tuple of parts; unsure where one is."""
    return UNSURE if any(each is UNSURE for each in parts) else tuple(parts)
