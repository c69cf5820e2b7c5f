"""The text of an enum's member, where the plugin spells it out: ``str(pool) == "PoolName.KV"``.

An enum that gains a ``__str__`` keeps its name, its members and their values; only what ``str()``
and f-strings make of a member is another text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sglang_contracts.plugin.ir.records import File, Use
from sglang_contracts.surface.model import Kind
from sglang_contracts.verify.answers.outcome import UNKNOWN, Outcome, Status
from sglang_contracts.verify.values.value import ObjectOf

if TYPE_CHECKING:
    from sglang_contracts.verify.rules.calling import Calling

_VALUED = frozenset({"StrEnum", "IntEnum", "IntFlag"})
"""Bases of the standard library whose members' text is their value (of the last two from 3.11)."""


def member_text(checker: Calling, index: int, file: File, use: Use) -> Outcome:
    """Whether the text of a value is still the name of an enum's member, as the file spells it."""
    lens = checker.lens
    value = checker.evaluator.value(index, use.node)
    member = value.alternatives[0] if len(value.alternatives) == 1 else None
    if type(member) is not ObjectOf:
        return UNKNOWN
    symbol = member.symbol
    spelled = f"{symbol.qual.rsplit('.', 1)[-1]}."
    if not lens.kind(symbol) & Kind.ENUM or not any(
        each.startswith(spelled) for each in file.strings
    ):
        return UNKNOWN
    if use.name == "format" and "str" in lens.externals(symbol):
        return UNKNOWN  # the value in an f-string before Python 3.12, the name from there on
    bases = {each.rsplit(".", 1)[-1] for each in lens.externals(symbol)}
    own = [lens.member(symbol, each) for each in ("__str__", "__format__")]
    if not any(own) and not bases & _VALUED:
        return Outcome(Status.OK, "text", found=(symbol,), named=value.named)
    return Outcome(
        Status.BROKEN,
        "text",
        f"{symbol.name}.__str__",
        owner=symbol,
        name=spelled,
        named=value.named,
    )
