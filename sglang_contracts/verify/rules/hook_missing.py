"""What upstream's base classes require of a plugin's classes."""

from __future__ import annotations

from collections.abc import Sequence

from sglang_contracts.plugin.ir.nodes import Call, Item, Iter, Param, Unpack
from sglang_contracts.surface.model import Function as Recorded
from sglang_contracts.surface.model import Kind, Role
from sglang_contracts.surface.symbol import Symbol
from sglang_contracts.verify.answers.outcome import UNKNOWN, Outcome, Status
from sglang_contracts.verify.rules.standins import StandIns
from sglang_contracts.verify.values.evaluator import Evaluator


class Duties(StandIns):
    """Tells what a plugin's class lacks."""

    def __init__(self, evaluator: Evaluator) -> None:
        super().__init__(evaluator)
        self.derived = self._derived()

    def _derived(self) -> set[tuple[int, str]]:
        """Own classes that other own classes derive from."""
        found: set[tuple[int, str]] = set()
        for index, file in enumerate(self.files):
            for record in file.classes.values():
                for base in record.bases:
                    own = self.evaluator.index.own_class(index, base)
                    if own is not None:
                        found.add(own)
        return found

    def complete(self, index: int, qual: str) -> Outcome:
        """Whether an own class provides all that its upstream bases require."""
        record = self.files[index].classes[qual]
        if record.abstract or record.open or (index, qual) in self.derived:
            return UNKNOWN
        bases, complete = self.evaluator.members.upstream_bases(index, qual)
        if not bases or not complete:
            return UNKNOWN
        if any(self.bounded(index, base) for base in record.bases):
            return UNKNOWN
        own = self.own_members(index, qual)
        for base in bases:
            if self.lens.kind(base) & Kind.PROTOCOL:
                return UNKNOWN
        missing: list[Symbol] = []
        for base in bases:
            for symbol in self.required(base):
                name = symbol.qual.rsplit(".", 1)[-1]
                if name not in own and not self.provided_elsewhere(bases, symbol, name):
                    missing.append(symbol)
        if not missing:
            return Outcome(Status.OK, found=tuple(bases))
        first = missing[0]
        return Outcome(
            Status.BROKEN,
            "hook-missing",
            first.name,
            owner=bases[0],
            name=first.qual.rsplit(".", 1)[-1],
            found=tuple(dict.fromkeys(missing)),
        )

    def bounded(self, index: int, base: int) -> bool:
        """Whether a base is known by an upper bound alone: the entry of a table, a result."""
        return isinstance(self.files[index].nodes[base], (Item, Call, Iter, Unpack, Param))

    def provided_elsewhere(self, bases: Sequence[Symbol], symbol: Symbol, name: str) -> bool:
        """Whether another base implements what one of them requires."""
        for base in bases:
            found = self.lens.member(base, name)
            if (found is not None and found != symbol and isinstance(found.node, Recorded)) and (
                not found.node.role & (Role.ABSTRACT | Role.UNIMPLEMENTED)
            ):
                return True
        return False

    def own_members(self, index: int, qual: str, depth: int = 0) -> set[str]:
        """Names an own class defines, its own bases included."""
        record = self.files[index].classes.get(qual)
        if record is None or depth > 10:
            return set()
        found = set(record.methods) | set(record.attributes)
        for base in record.bases:
            own = self.evaluator.index.own_class(index, base)
            if own is not None:
                found |= self.own_members(own[0], own[1], depth + 1)
        return found

    def required(self, base: Symbol) -> list[Symbol]:
        """Members of an upstream class that a concrete class has to provide.

        Abstract ones; and those that only raise ``NotImplementedError`` where the release calls
        them (:class:`~sglang_contracts.verify.rules.judge.Findings` asks who else provides them).
        """
        return self.lens.once(
            ("required", base.module, base.qual),
            lambda: [
                symbol
                for name, symbol in self.lens.members(base).items()
                if isinstance(symbol.node, Recorded) and self._is_duty(name, symbol.node)
            ],
        )

    def _is_duty(self, name: str, node: Recorded) -> bool:
        return bool(
            node.role & Role.ABSTRACT
            or (
                node.role & Role.UNIMPLEMENTED
                and not name.startswith("_")
                and not node.role & Role.PLANNED
                and self.sites(name)
            )
        )
