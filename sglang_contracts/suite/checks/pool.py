"""What the key/value pool must do with what it is given."""

from __future__ import annotations

from typing import Any

from sglang_contracts.suite import judge
from sglang_contracts.suite.bench import LAYERS, Bench
from sglang_contracts.suite.checks.attention import _decode, _extend, _modes, _prefix, _run
from sglang_contracts.suite.context import Context
from sglang_contracts.suite.registry import check
from sglang_contracts.suite.script import Cell
from sglang_contracts.suite.strategies import scripts
from sglang_contracts.suite.violation import Inapplicable, ask, describe, expect

__all__ = ["scripts"]


@check(
    "kv-pool.foreign-slots-untouched",
    3,
    "A pass changes the batch's own slots of its own layer and nothing else; slot 0 stays",
    clauses=("kv-pool-mha/set_kv_buffer", "attention-backend/forward_extend"),
    why="A displaced write is another request's mixed-up text.",
)
def _foreign(context: Context) -> None:
    modes = _modes(context, "extend", "decode", "mixed")
    _run(
        context,
        (judge.only_own_slots,),
        (_extend, _decode, _prefix),
        modes=modes,
        sharing=True,
        turns=5,
    )


@check(
    "kv-pool.tokens-land-in-their-slots",
    3,
    "After a pass every new token's keys and values stand in its slot, bit for bit",
    clauses=("kv-pool-mha/set_kv_buffer", "forward-batch/out_cache_loc"),
    why="The next pass and the prefix cache read them there.",
)
def _landed(context: Context) -> None:
    modes = _modes(context, "extend", "decode", "mixed")
    _run(context, (judge.written,), (_extend, _decode), modes=modes, turns=5)
