"""Which releases a comparison of SGLang's version is true of."""

from __future__ import annotations

from collections.abc import Sequence

from sglang_contracts.plugin.ir.nodes import Node
from sglang_contracts.verify.values.constants import DEEPEST, UNSURE, Constants

_PURE = frozenset({"version", "text", "number", "literal", "always", "never"})


class Coverage(Constants):
    """Looks at conditions that the release's number alone decides, in all releases at once."""

    def covered(
        self, index: int, node: int, releases: Sequence[str]
    ) -> tuple[bool | None, ...] | None:
        """Where a condition holds that the release's number alone decides; None for any other."""
        if not self._pure(index, node, 0):
            return None
        answers = tuple(self.supposing(each, index, node) for each in releases)
        return None if all(each is None for each in answers) else answers

    def supposing(self, release: str, index: int, node: int) -> bool | None:
        """A condition that hangs on the number alone, in another release than the present."""
        before, self.as_release = self.as_release, release
        try:
            return self.condition(index, node)
        finally:
            self.as_release = before

    def _pure(self, index: int, node: int, depth: int) -> bool | None:
        """Whether a condition compares SGLang's version and asks no surface; None: it is constant.

        Asking whether ``sglang`` imports does not count.
        """
        if node == 0 or depth > DEEPEST:
            return False
        held = self.files[index].nodes[node]
        match held[0]:
            case "compare":
                return True
            case "not" | "truth":
                return self._pure(index, held[1], depth + 1)
            case "and" | "or":
                return _all_pure([self._pure(index, each, depth + 1) for each in held[1:] if each])
            case "own":
                found = self.own_name(held[1], held[2]) if held[2] else None
                return self._pure(*found, depth + 1) if found is not None else False
            case "attr":
                return self._pure_attribute(index, held, depth)
            case "call":
                return self._pure_call(index, held, depth)
        return None if held[0] in _PURE else False

    def _pure_attribute(self, index: int, held: Node, depth: int) -> bool | None:
        for each in self.value(index, held[1]).alternatives[:1]:
            if each[0] == "own-module":
                found = self.own_name(each[1], held[2])
                return self._pure(*found, depth + 1) if found is not None else False
            if each[0] in ("own-object", "own-class"):
                record = self.files[each[1]].classes.get(each[2])
                values = record.attributes.get(held[2], []) if record is not None else []
                return len(values) == 1 and self._pure(each[1], values[0], depth + 1)
        return False

    def _pure_call(self, index: int, held: Node, depth: int) -> bool | None:
        callee = self.files[index].nodes[held[1]]
        if callee[0] == "attr" and self.constant(index, callee[1]) is not UNSURE:
            return True
        made = self.frame(index, held, None)
        if made is None:
            return False
        file = self.files[made.file]
        record = file.functions[made.function]
        parts = [self._pure(made.file, each, depth + 1) for each in record.returns]
        for guard in record.return_guards:
            while guard and guard != record.guard:
                if file.guards[guard].kind == "if":
                    parts.append(self._pure(made.file, file.guards[guard].condition, depth + 1))
                guard = file.guards[guard].parent
        return _all_pure(parts)


def _all_pure(parts: Sequence[bool | None]) -> bool | None:
    """Whether several parts are pure, and one of them compares the version."""
    return False if False in parts else True if True in parts else None
