"""What constants and conditions of a plugin come to in a release: versions, above all.

A plugin's own functions are followed with what they are called with: ``at_least("0.5.13")`` is as
good as the comparison it makes.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import Version

from sglang_contracts.plugin.ir.nodes import Node
from sglang_contracts.plugin.ir.records import Function
from sglang_contracts.verify.values.feature_questions import Asked
from sglang_contracts.verify.values.value import Value

UNSURE: Any = object()
"""A value that cannot be told."""

DEEPEST = 16
_SIGNS: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
    "in": lambda one, other: one in other,
    "not in": lambda one, other: one not in other,
}
_OF_VERSIONS = frozenset(
    {"release", "major", "minor", "micro", "base_version", "public", "post", "is_postrelease"}
)
_OF_TEXT = frozenset(
    {"split", "rsplit", "partition", "rpartition", "strip", "lstrip", "rstrip", "startswith"}
    | {"endswith", "removeprefix", "removesuffix", "replace", "lower"}
)
_ANSWERS = frozenset(
    {"always", "never", "compare", "has", "has-named", "takes", "found", "registered"}
    | {"not", "and", "or", "went", "truth"}
)


class Frame(NamedTuple):
    """A call of a function of the plugin, while its result is worked out."""

    file: int
    function: int
    arguments: dict[int, tuple[int, int]]
    """Position of a parameter → file and node of what is passed."""
    rest: tuple[tuple[int, int], ...]
    """What ``*args`` takes."""
    outer: Frame | None


@lru_cache(maxsize=512)
def _version(text: str) -> Any:
    try:
        return Version(text)
    except ValueError:  # InvalidVersion is one; so are more digits than Python reads
        return UNSURE


class Constants(Asked):
    """Works out constants and conditions in the present release."""

    as_release: str | None = None
    """A release to suppose in place of the present one, for what hangs on the number alone."""

    def constant(self, index: int, node: int, frame: Frame | None = None, depth: int = 0) -> Any:
        """What a node is, as a Python value; :data:`UNSURE` where that cannot be told."""
        if node == 0 or depth > DEEPEST:
            return UNSURE
        held = self.files[index].nodes[node]

        def inner(part: int) -> Any:
            return self.constant(index, part, frame, depth + 1)

        match held[0]:
            case "text" | "number":
                return held[1]
            case "literal":
                return {"None": None, "true": True, "false": False}.get(held[1], UNSURE)
            case "version":
                self.lens.touch("release")
                return self.as_release or self.lens.release
            case "tuple":
                parts = tuple(inner(each) for each in held[1:])
                return UNSURE if any(each is UNSURE for each in parts) else parts
            case "parse" | "specifier" | "ints" | "int" | "slice" | "unpack":
                return self._made_of(held, inner(held[1]))
            case "attr":
                return self._attribute(index, held, frame, depth)
            case "call":
                return self._called(index, held, frame, depth)
            case "param":
                return self._passed(index, held, frame, depth)
            case "own":
                found = self.own_name(held[1], held[2]) if held[2] else None
                return self.constant(*found, depth=depth + 1) if found is not None else UNSURE
            case "tried":
                return inner(held[3] if self.went(index, held[1]) is False else held[2])
            case "select":
                chosen = self.condition(index, held[1], frame, depth + 1)
                if chosen is not None:
                    return inner(held[2] if chosen else held[3])
                return _agreed([inner(held[2]), inner(held[3])])
            case "union":
                return _agreed([inner(each) for each in held[1:]])
            case _ if held[0] in _ANSWERS:
                answer = self.condition(index, node, frame, depth + 1)
                return UNSURE if answer is None else answer
        return UNSURE

    @staticmethod
    def _made_of(held: Node, base: Any) -> Any:
        """One step from a version towards what is compared."""
        if base is UNSURE:
            return UNSURE
        match held[0]:
            case "parse":
                return _version(base) if isinstance(base, str) else base
            case "specifier":
                try:
                    return SpecifierSet(base)
                except (InvalidSpecifier, TypeError):
                    return UNSURE
            case "ints":
                return _numbers(base, held[2])
            case "int":
                return int(base) if isinstance(base, (str, int)) and _is_number(base) else UNSURE
            case "slice" if isinstance(base, (str, tuple, list)):
                return base[held[2] : held[3]]
            case "unpack" if isinstance(base, (str, tuple, list)):
                place = held[2]
                return base[place] if -len(base) <= place < len(base) else UNSURE
        return UNSURE

    def _attribute(self, index: int, held: Node, frame: Frame | None, depth: int) -> Any:
        base = self.constant(index, held[1], frame, depth + 1)
        if isinstance(base, Version):
            return getattr(base, held[2]) if held[2] in _OF_VERSIONS else UNSURE
        if isinstance(base, str):  # ``distribution("sglang").version``
            return base if held[2] == "version" else UNSURE
        for each in self.value(index, held[1]).alternatives[:1]:
            if each[0] == "own-module":
                found = self.own_name(each[1], held[2])
                return self.constant(*found, depth=depth + 1) if found is not None else UNSURE
            if each[0] in ("own-object", "own-class"):
                return self._own_attribute(each[1], each[2], held[2], depth)
        return UNSURE

    def _own_attribute(self, file: int, qual: str, name: str, depth: int) -> Any:
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
        if len(values) == 1 and self.files[file].nodes[values[0]][0] != "literal":
            return self.constant(file, values[0], depth=depth + 1)
        return UNSURE

    def _called(self, index: int, held: Node, frame: Frame | None, depth: int) -> Any:
        callee = self.files[index].nodes[held[1]]
        form = self.files[index].forms[held[2]]
        if callee[0] == "attr":
            base = self.constant(index, callee[1], frame, depth + 1)
            if isinstance(base, (str, SpecifierSet)):
                arguments = [
                    self.constant(index, each, frame, depth + 1) for each in form.positional
                ]
                if any(each is UNSURE for each in arguments):
                    return UNSURE
                return _method(base, callee[2], arguments)
        made = self.frame(index, held, frame)
        return self._result(made, depth) if made is not None else UNSURE

    def frame(self, index: int, held: Node, outer: Frame | None) -> Frame | None:
        """A call of one of the plugin's functions, its arguments bound to parameters."""
        own = self.own_function(index, held[1])
        skip = 0
        if own is None:
            own = self.own_called(index, held[1])
            if own is not None:
                skip = int(self.files[own[0]].functions[own[1]].kind != "static")
        if own is None:
            found = self.value(index, held[1]).alternatives
            if len(found) != 1 or found[0][0] != "own-func":
                return None
            own, skip = (found[0][1], found[0][2]), int(found[0][3])
        record = self.files[own[0]].functions[own[1]]
        form = self.files[index].forms[held[2]]
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

    def _result(self, frame: Frame, depth: int) -> Any:
        """What a call of a function of the plugin gives."""
        if depth > DEEPEST:
            return UNSURE
        return _agreed(
            [
                self.constant(frame.file, node, frame, depth + 1)
                for node in self._returns(frame, depth)
            ]
        )

    def _returns(self, frame: Frame, depth: int) -> list[int]:
        """Nodes of those ``return`` statements that a call may come to."""
        record: Function = self.files[frame.file].functions[frame.function]
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

    def _passed(self, index: int, held: Node, frame: Frame | None, depth: int) -> Any:
        """A parameter, in a call that is being followed."""
        if frame is None or (frame.file, frame.function) != (index, held[1]):
            return UNSURE
        record = self.files[index].functions[held[1]].parameters[held[2]]
        if record.kind == 2:
            parts = tuple(self.constant(*each, frame.outer, depth + 1) for each in frame.rest)
            return UNSURE if any(each is UNSURE for each in parts) else parts
        passed = frame.arguments.get(held[2])
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
        match held[0]:
            case "always":
                return True
            case "never":
                return False
            case "compare":
                one = self.constant(index, held[2], frame, depth + 1)
                other = self.constant(index, held[3], frame, depth + 1)
                return _compared(held[1], one, other)
            case "has":
                return self._has(self._handed(index, held[1], frame), held[2])
            case "has-named":
                name = self.constant(index, held[2], frame, depth + 1)
                if not isinstance(name, str):
                    return None
                return self._has(self._handed(index, held[1], frame), name)
            case "takes":
                return self.takes(index, held[1], held[2])
            case "found":
                return self.module_found(self.files[index].nodes[held[1]][1])
            case "registered":
                table = self.table(index, self.files[index].nodes[held[1]])
                return self.registered_in(table, held[2]) if table is not None else None
            case "not":
                inner = self.condition(index, held[1], frame, depth + 1)
                return None if inner is None else not inner
            case "and":
                parts = [self.condition(index, each, frame, depth + 1) for each in held[1:]]
                if False in parts:
                    return False
                return None if None in parts else True
            case "or":
                parts = [self.condition(index, each, frame, depth + 1) for each in held[1:]]
                if True in parts:
                    return True
                return None if None in parts else False
            case "went":
                return self.went(index, held[1])
            case "truth":
                return self.truth(index, held[1], depth + 1, frame)
        return self.truth(index, node, depth + 1, frame)

    def _has(self, value: Value, name: str) -> bool | None:
        """Whether a value has an attribute."""
        look = self.look(value, name)
        if look.lost:
            return False
        return True if look.found else None

    def _handed(self, index: int, node: int, frame: Frame | None) -> Value:
        """A value; of a parameter, in a call that is being followed, what is passed."""
        held = self.files[index].nodes[node]
        while held[0] == "param" and frame and (frame.file, frame.function) == (index, held[1]):
            passed = frame.arguments.get(held[2])
            if passed is None:
                break
            (index, node), frame = passed, frame.outer
            held = self.files[index].nodes[node]
        return self.value(index, node)

    def truth(
        self, index: int, node: int, depth: int = 0, frame: Frame | None = None
    ) -> bool | None:
        """Whether a value is true; None where that cannot be told."""
        if node == 0 or depth > DEEPEST:
            return None
        held = self.files[index].nodes[node]
        match held[0]:
            case "literal":
                return {"None": False, "true": True, "false": False}.get(held[1])
            case "tried":
                went = self.went(index, held[1])
                return self.truth(index, held[3] if went is False else held[2], depth + 1, frame)
            case "select":
                chosen = self.condition(index, held[1], frame, depth + 1)
                if chosen is not None:
                    return self.truth(index, held[2] if chosen else held[3], depth + 1, frame)
                one = self.truth(index, held[2], depth + 1, frame)
                return one if one == self.truth(index, held[3], depth + 1, frame) else None
            case "import":
                return True if self.value(index, node).alternatives else None
            case "ownfunc" | "ownclass":
                return True
            case "own":
                found = self.own_name(held[1], held[2]) if held[2] else None
                return self.truth(*found, depth=depth + 1) if found is not None else None
            case "probe":
                return self._probed(index, held, depth)
            case "attr":
                return self._attribute_true(index, held, frame, depth)
            case "call":
                return self._call_true(index, held, frame, depth)
            case _ if held[0] in _ANSWERS:
                return self.condition(index, node, frame, depth + 1)
        found_constant = self.constant(index, node, frame, depth + 1)
        return None if found_constant is UNSURE else bool(found_constant)

    def _probed(self, index: int, held: Node, depth: int) -> bool | None:
        base = self.files[index].nodes[held[1]]
        if base[0] == "attr":
            look = self.look(self.value(index, base[1]), base[2])
            if look.lost:
                return self.truth(index, held[2], depth + 1)
            if look.found and look.found[0].kind in ("method", "function", "class"):
                return True
        return None

    def _attribute_true(
        self, index: int, held: Node, frame: Frame | None, depth: int
    ) -> bool | None:
        base = self.value(index, held[1])
        if base.alternatives and base.alternatives[0][0] == "own-module":
            found = self.own_name(base.alternatives[0][1], held[2])
            return self.truth(*found, depth=depth + 1) if found is not None else None
        kept = self.kept_answers(index, held[1], held[2])
        if kept:
            return self.agreed(index, (held[1], held[2]), kept)
        look = self.look(base, held[2])
        if look.found:
            return True if look.found[0].kind in ("method", "class") else None
        constant = self._attribute(index, held, frame, depth)
        return None if constant is UNSURE else bool(constant)

    def _call_true(self, index: int, held: Node, frame: Frame | None, depth: int) -> bool | None:
        made = self.frame(index, held, frame)
        if made is None:
            constant = self._called(index, held, frame, depth)
            return None if constant is UNSURE else bool(constant)
        answers = {
            self.truth(made.file, node, depth + 1, made) for node in self._returns(made, depth)
        }
        return answers.pop() if len(answers) == 1 else None

    def agreed(
        self, index: int, attribute: tuple[int, str], kept: Sequence[tuple[int, int]]
    ) -> bool | None:
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

    def own_called(self, index: int, node: int) -> tuple[int, int] | None:
        """The method of the plugin that ``self.method()`` calls."""
        held = self.files[index].nodes[node]
        if held[0] != "attr" or self.files[index].nodes[held[1]][0] not in ("self", "ownclass"):
            return None
        return self._own_method(index, self.files[index].nodes[held[1]][1], held[2])

    def went(self, index: int, attempt: int) -> bool | None:
        """Whether a ``try`` goes through: False where something in it is certainly missing."""
        if self.status_of is None:
            return None
        record = self.files[index].attempts[attempt]
        return bool(self.status_of(index, attempt, record))


def _agreed(values: Sequence[Any]) -> Any:
    """The one value of all; unsure where they differ or one is."""
    if not values or any(each is UNSURE for each in values):
        return UNSURE
    return values[0] if all(each == values[0] for each in values[1:]) else UNSURE


def _compared(sign: str, one: Any, other: Any) -> bool | None:
    if one is UNSURE or other is UNSURE:
        return None
    if isinstance(other, SpecifierSet) and sign in ("in", "not in"):
        return other.contains(str(one), prereleases=True) == (sign == "in")
    try:
        return bool(_SIGNS[sign](one, other))
    except TypeError:  # a text and a number: the plugin itself would raise
        return None


def _numbers(base: Any, count: int) -> Any:
    """The numbers of a version, as ``int`` of each of its parts gives them."""
    if not isinstance(base, (str, Version)):
        return UNSURE
    parts = str(base).split(".")
    if count:
        parts = parts[:count]
    if all(_is_number(each) for each in parts):
        return tuple(int(each) for each in parts)
    version = _version(str(base))
    if version is UNSURE:
        return UNSURE
    return version.release[:count] if count else version.release


def _is_number(text: Any) -> bool:
    return isinstance(text, int) or re.fullmatch(r"\d{1,9}", text) is not None


def _method(base: Any, name: str, arguments: Sequence[Any]) -> Any:
    """A call of a method of a text or of a specifier."""
    if isinstance(base, SpecifierSet):
        if name != "contains" or not arguments:
            return UNSURE
        return base.contains(str(arguments[0]), prereleases=True)
    if name not in _OF_TEXT:
        return UNSURE
    try:
        result = getattr(base, name)(*arguments)
    except (TypeError, ValueError):
        return UNSURE
    return tuple(result) if isinstance(result, list) else result
