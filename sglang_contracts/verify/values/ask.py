"""What the parts of the evaluator ask of it: values that only all of them together can work out."""

from __future__ import annotations

from typing import Protocol

from sglang_contracts.surface.symbol import Symbol
from sglang_contracts.verify.values.value import Value


class Ask(Protocol):
    """Answers for the present release; the evaluator is one."""

    def value(self, index: int, node: int) -> Value:
        """What a node of one of the plugin's files is."""

    def own_member(self, module: str, name: str) -> Value:
        """A name of one of the plugin's modules."""

    def own_returned(self, file: int, number: int) -> Value:
        """What a call of a function of the plugin gives."""

    def returned(self, symbol: Symbol) -> Value:
        """What a call of a function of the release gives."""
