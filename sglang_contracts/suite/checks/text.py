"""Many requests at once: each keeps its own text."""

from __future__ import annotations

import random
from typing import Any

from sglang_contracts.suite.bench import CONTEXT, Bench
from sglang_contracts.suite.context import Context
from sglang_contracts.suite.passes import Step
from sglang_contracts.suite.registry import check
from sglang_contracts.suite.script import Cell, Turn
from sglang_contracts.suite.text import MARGIN, VOCABULARY, forward, model
from sglang_contracts.suite.violation import expect

REQUESTS = 26
TOGETHER = 20
"""As many run at once; the others come when some have left, and get their rows and pages."""
NEW = 7


@check(
    "text.twenty-requests-keep-their-own",
    3,
    "Twenty interleaved requests that arrive, leave and come in chunks get the text they get alone",
    needs=("mode:extend", "mode:decode"),
    clauses=("forward-batch/out_cache_loc", "forward-batch/req_pool_indices"),
    why="Misplaced slots show only under concurrency, as somebody else's words.",
)
def _twenty(context: Context) -> None:
    def body(cell: Cell) -> None:
        dice = random.Random(11)  # noqa: S311 - test data
        bench = Bench(context, cell, slots=max(640, 40 * cell.page_size))
        prompts = [
            tuple(dice.randrange(VOCABULARY) for _ in range(dice.randint(3, 14) + more))
            for more in _up_to_an_edge(cell)
        ]
        wanted = [model(cell).alone(prompt, NEW, bench.scales) for prompt in prompts]
        waiting, running = list(range(TOGETHER)), list[int]()
        later = list(range(TOGETHER, REQUESTS))
        fed = dict.fromkeys(range(REQUESTS), 0)
        made: dict[int, list[int]] = {number: [] for number in range(REQUESTS)}
        chunks = context.subject.capabilities.prefix_cache
        most, full = TOGETHER // 2, False
        while waiting or running or later:
            if later and full and len(running) <= TOGETHER - len(later):
                waiting, later = later, []
            if waiting and (not running or dice.random() < 0.8):
                rows, tokens = [], list[int]()
                for number in waiting[:most]:
                    rest = prompts[number][fed[number] :]
                    take = dice.randint(1, len(rest)) if chunks else len(rest)
                    rows.append((number, take))
                    tokens += rest[:take]
                turn, most = Turn("extend", tuple(rows)), dice.randint(1, 8)
            else:
                dice.shuffle(running)
                whole = not waiting and not full  # once all that are there decode together
                chosen = running[: len(running) if whole else dice.randint(1, len(running))]
                full = full or whole
                turn = Turn("decode", tuple((number, 1) for number in chosen))
                tokens = [made[number][-1] for number in chosen]
            step = bench.step(turn)
            bench.prepare(step)
            logits = forward(bench, step, tokens)
            end = 0
            for number, count in turn.rows:
                end += count
                if turn.mode == "extend":
                    fed[number] += count
                    if fed[number] < len(prompts[number]):
                        continue
                    waiting.remove(number)
                    running.append(number)
                _next(step, cell, number, made[number], wanted[number], logits[end - 1])
                if len(made[number]) == NEW:
                    running.remove(number)
                    bench.end(number)

    def cells() -> list[Cell]:
        found: dict[int, Cell] = {}
        for cell in context.cells():
            if cell.dtype == "float32" or "float32" not in context.subject.capabilities.dtypes:
                found.setdefault(cell.page_size, cell)
        return list(found.values())

    context.explore(cells(), None, body)


def _up_to_an_edge(cell: Cell) -> list[int]:
    """Tokens that bring a third of the prompts to the edge of a page, where pages are large."""
    most = min(cell.page_size, CONTEXT // 2) - 12
    return [most if most > 4 and number % 3 == 1 else 0 for number in range(REQUESTS)]


def _next(
    step: Step, cell: Cell, number: int, made: list[int], wanted: list[Any], found: Any
) -> None:
    """Hold a request's next token to what it is alone, and go on with that one."""
    logits = wanted[len(made)]
    first, second = sorted(logits)[-1], sorted(logits)[-2]
    token = int(logits.argmax())
    lead = first - second
    slots = next(each.slots for each in step.requests if each.number == number)
    if lead > MARGIN * (1 if cell.dtype == "float32" else 10):
        expect(
            int(found.argmax()) == token,
            f"request {number} of {REQUESTS} gets another token {len(made) + 1} than it gets "
            f"alone, at position {len(slots) - 1}, slot {slots[-1]} ({step.mode} of "
            f"{len(step.requests)} requests, {cell.label})",
        )
    made.append(token)
