"""Which releases a comparison of SGLang's version is true of."""

from __future__ import annotations

from collections.abc import Sequence

from sglang_contracts.plugin.ir.nodes import (
    UNKNOWN,
    Always,
    And,
    Attr,
    Call,
    Compare,
    Literal,
    Never,
    Not,
    Number,
    Or,
    PluginName,
    SglangVersion,
    Text,
    Truth,
)
from sglang_contracts.verify.values.ask import Ask
from sglang_contracts.verify.values.constant_values import UNSURE
from sglang_contracts.verify.values.constants import DEEPEST, Constants
from sglang_contracts.verify.values.plugin_index import PluginIndex
from sglang_contracts.verify.values.value import OwnClassRef, OwnModuleRef, OwnObject

_CONSTANT = frozenset({SglangVersion, Text, Number, Literal, Always, Never})


class VersionRanges:
    """Looks at conditions that the release's number alone decides, in all releases at once."""

    def __init__(self, index: PluginIndex, constants: Constants, ask: Ask) -> None:
        self.index = index
        self.files = index.files
        self.constants = constants
        self.ask = ask

    def covered(
        self, index: int, node: int, releases: Sequence[str]
    ) -> tuple[bool | None, ...] | None:
        """Where a condition holds that the release's number alone decides; None for any other."""
        if not self._pure(index, node, 0):
            return None
        self.constants.asked_version = False
        answers = tuple(self.supposing(each, index, node) for each in releases)
        if not self.constants.asked_version or all(each is None for each in answers):
            return None
        return answers

    def supposing(self, release: str, index: int, node: int) -> bool | None:
        """A condition that hangs on the number alone, in another release than the present."""
        constants = self.constants
        before, constants.as_release = constants.as_release, release
        try:
            return constants.condition(index, node)
        finally:
            constants.as_release = before

    def _pure(self, index: int, node: int, depth: int) -> bool | None:
        """Whether a condition compares SGLang's version and asks no surface; None: it is constant.

        Asking whether ``sglang`` imports does not count.
        """
        if node == 0 or depth > DEEPEST:
            return False
        held = self.files[index].nodes[node]
        if type(held) is Compare:
            return True
        if type(held) is Not:
            return self._pure(index, held.condition, depth + 1)
        if type(held) is Truth:
            return self._pure(index, held.value, depth + 1)
        if type(held) is And or type(held) is Or:
            return _all_pure(
                [self._pure(index, each, depth + 1) for each in held.conditions if each]
            )
        if type(held) is PluginName:
            found = self.index.named(held)
            return self._pure(*found, depth + 1) if found is not None else False
        if type(held) is Attr:
            return self._pure_attribute(index, held, depth)
        if type(held) is Call:
            return self._pure_call(index, held, depth)
        return None if type(held) in _CONSTANT else False

    def _pure_attribute(self, index: int, held: Attr, depth: int) -> bool | None:
        for each in self.ask.value(index, held.base).alternatives[:1]:
            if type(each) is OwnModuleRef:
                found = self.index.own_name(each.name, held.name)
                return self._pure(*found, depth + 1) if found is not None else False
            if type(each) is OwnObject or type(each) is OwnClassRef:
                record = self.files[each.file].classes.get(each.qual)
                values = record.attributes.get(held.name, []) if record is not None else []
                return len(values) == 1 and self._pure(each.file, values[0], depth + 1)
        return False

    def _pure_call(self, index: int, held: Call, depth: int) -> bool | None:
        callee = self.files[index].nodes[held.callee]
        base = callee.base if type(callee) is Attr else UNKNOWN
        if self.constants.constant(index, base) is not UNSURE:
            return True
        called = self.constants.frame(index, held, None)
        if called is None:
            return False
        file = self.files[called.file]
        record = file.functions[called.function]
        parts = [self._pure(called.file, each, depth + 1) for each in record.returns]
        for guard in record.return_guards:
            while guard and guard != record.guard:
                if file.guards[guard].kind == "if":
                    parts.append(self._pure(called.file, file.guards[guard].condition, depth + 1))
                guard = file.guards[guard].parent
        return _all_pure(parts)


def _all_pure(parts: Sequence[bool | None]) -> bool | None:
    """Whether several parts are pure, and one of them compares the version."""
    return False if False in parts else True if True in parts else None
