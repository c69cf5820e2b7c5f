"""The equations of contract ``memory-planning`` for a release: a name, and what it comes to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sglang_contracts.contract import Contract, load_contracts
from sglang_contracts.contract.expression import evaluate
from sglang_contracts.contract.ranges import Range

CONTRACT = "memory-planning"


class Equations:
    """What SGLang computes of memory in one release.

    Args:
        release: The release.
        contracts: Where the contract is looked for; None: those that are shipped.
    """

    def __init__(self, release: str, contracts: Iterable[Contract] | None = None) -> None:
        every = load_contracts() if contracts is None else contracts
        (contract,) = (each for each in every if each.id == CONTRACT)
        self.release = release
        self._by_name: dict[str, str] = {}
        for clause in contract.clauses:
            name, equals, right = clause.holds.partition(" == ")
            if equals and name.isidentifier() and Range.of(clause.sglang).contains(release):
                self._by_name[name] = right

    def knows(self, name: str) -> bool:
        """Whether the contract says in this release what a name comes to."""
        return name in self._by_name

    def value(self, name: str, known: Mapping[str, int]) -> int:
        """What a name comes to.

        Args:
            name: Left side of an equation.
            known: The values of the names on its right side.
        """
        found = evaluate(self._by_name[name], known)
        assert isinstance(found, int)
        return found
