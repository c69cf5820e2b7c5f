"""Level 4: whose kernels ran, and who says so."""

from __future__ import annotations

import contextlib
import functools
import logging
import re
from collections.abc import Callable, Iterator
from typing import Any

from sglang_contracts.suite.bench import Bench
from sglang_contracts.suite.checks.graphs import device_of, started
from sglang_contracts.suite.context import Context
from sglang_contracts.suite.kernel_targets import find_kernel, standing_in
from sglang_contracts.suite.registry import check
from sglang_contracts.suite.script import Cell, Turn
from sglang_contracts.suite.violation import Inapplicable, Violation, expect


@contextlib.contextmanager
def _counting(targets: dict[str, tuple[str, ...]]) -> Iterator[list[str]]:
    """Note each call of the named functions.

    Yields:
        The path (``prefill`` or ``decode``) of each call, in order.

    Raises:
        Violation: A declared kernel is not there.
    """
    calls: list[str] = []
    undo = []

    def noting(path: str, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def noted(*args: Any, **kwargs: Any) -> Any:
            calls.append(path)
            return function(*args, **kwargs)

        return standing_in(noted, function)

    try:
        for path, names in targets.items():
            for name in names:
                holder, attribute = _found(name)
                function = getattr(holder, attribute)
                setattr(holder, attribute, noting(path, function))
                undo.append((holder, attribute, function))
        yield calls
    finally:
        for holder, attribute, function in reversed(undo):
            setattr(holder, attribute, function)


def _found(name: str) -> tuple[Any, str]:
    try:
        return find_kernel(name)
    except (ImportError, AttributeError) as error:
        raise Violation(f"the declared kernel {name} cannot be found: {error}") from error


@check(
    "kernels.prefill-and-decode-take-their-own",
    4,
    "Prefill runs on the prefill kernels and decode on the decode kernels, once a layer each",
    needs=("kernels", "mode:extend", "mode:decode"),
    clauses=("attention-backend/forward_extend", "attention-backend/forward_decode"),
    why="One general path for both was unacceptably slow.",
)
def _kernels(context: Context) -> None:
    targets = dict(context.subject.capabilities.kernels)
    if set(targets) != {"prefill", "decode"}:
        raise Inapplicable("'kernels' names only one of prefill and decode")

    def body(cell: Cell) -> None:
        Bench(context, cell, looks=False)  # loads the plugin; its runtime may be there only then
        with _counting(targets) as calls:
            bench = Bench(context, cell, looks=False)
            turns = [(Turn("extend", ((0, 5), (1, 2))), "prefill")]
            if context.subject.capabilities.prefix_cache:
                turns.append((Turn("extend", ((0, 3), (2, 4))), "prefill"))
            turns.append((Turn("decode", ((1, 1), (0, 1))), "decode"))
            for turn, wanted in turns:
                calls.clear()
                bench.run(turn)
                expect(
                    bool(calls),
                    f"{turn.mode} calls none of the declared kernels "
                    f"({', '.join(targets[wanted])}; {cell.label})",
                )
                other = [path for path in calls if path != wanted]
                expect(
                    not other,
                    f"{turn.mode} runs {len(other)} of {len(calls)} launches on the "
                    f"{other[0] if other else ''} kernel ({cell.label})",
                )

    context.explore(context.page_cells(), None, body)


_CROWD = 80
"""Requests of a batch that is larger than a line of a log likes."""


class _Records(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())


def _captured(context: Context, cell: Cell, records: _Records) -> None:
    """Hold a captured decode to the kernel that the log names for an eager one, if it names one."""
    kernels = context.subject.capabilities.kernels.get("decode", ())
    words = [re.split(r"[.:]", kernel)[-1] for kernel in kernels]

    def told_of(number: int) -> bool:
        served = re.compile(rf"request-{number}\b")
        return any(served.search(x) and any(w in x for w in words) for x in records.lines)

    with device_of(context) as watch:
        bench, captured = started(context, cell, watch)
        bench.run(Turn("decode", ((0, 1),)))
        if not told_of(0):
            return  # the log names no kernels
        bench.run(Turn("extend", ((2 * _CROWD, 3), (2 * _CROWD + 1, 2))))
        captured.replay(bench.step(Turn("decode", ((2 * _CROWD, 1), (2 * _CROWD + 1, 1)))))
        for number in (2 * _CROWD, 2 * _CROWD + 1):
            expect(
                told_of(number),
                f"request {number} was decoded in a captured graph right after a prefill, and no "
                f"line of the log names it with the decode kernel ({', '.join(words)}), as it does "
                "for an eager decode",
            )


@check(
    "log.names-the-backend-of-each-request",
    4,
    "The log tells for each request which backend served it",
    needs=("request-log",),
    clauses=("forward-batch/rids",),
    why="With two kinds of card behind one gateway nothing else tells who answered.",
)
def _log(context: Context) -> None:
    capabilities = context.subject.capabilities
    name = context.subject.settings.attention_backend or context.subject.settings.platform
    if not name:
        raise Inapplicable("the settings name no 'attention-backend' to look for in the log")
    logger = logging.getLogger(capabilities.request_log)
    word = re.compile(rf"(?<![\w-]){re.escape(name)}(?![\w-])")
    has_ids = context.clause("forward-batch/rids") is not None

    def body(cell: Cell) -> None:
        records = _Records()
        level = logger.level
        logger.addHandler(records)
        logger.setLevel(logging.INFO)
        try:
            slots = (2 * _CROWD + 16) * cell.page_size
            bench = Bench(context, cell, looks=False, slots=slots, requests=_CROWD + 16)
            turns = [
                Turn("extend", ((0, 5), (1, 2), (2, 3))),
                Turn("decode", ((1, 1), (0, 1))),
                Turn("extend", ((3, 4),)),
            ]
            if "mixed" in capabilities.modes:
                turns.append(Turn("mixed", ((1, 1), (4, 3), (3, 1))))
            crowd = tuple((number, 1) for number in range(_CROWD, 2 * _CROWD))
            turns.append(Turn("extend", crowd))
            for turn in turns:
                bench.run(turn)
                expect(
                    any(word.search(line) for line in records.lines),
                    f"after {turn.mode}, no line of the log {capabilities.request_log!r} names the "
                    f"backend {name!r} ({len(records.lines)} lines)",
                )
                for number in [row[0] for row in turn.rows] if has_ids else ():
                    served = re.compile(rf"request-{number}\b")
                    lines = [line for line in records.lines if served.search(line)]
                    expect(
                        bool(lines) and all(word.search(line) for line in lines),
                        f"after {turn.mode}, {len(lines)} lines of the log name request {number}, "
                        f"and not all of them the backend {name!r}",
                    )
            if capabilities.graph_capture and has_ids and context.since("0.5.13"):
                _captured(context, cell, records)
        finally:
            logger.removeHandler(records)
            logger.setLevel(level)

    context.explore(context.page_cells()[:1], None, body)
