"""Latency: of the first token over prompts, between tokens over growing context; no step, no stall.

One run says nothing against the machine's noise: what looks like a fault is measured anew, and only
what shows itself each time is one.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from sglang_contracts.serving import statistics
from sglang_contracts.serving.client import Prompt
from sglang_contracts.serving.plot import Plot
from sglang_contracts.serving.registry import check
from sglang_contracts.serving.session import Session, tokens
from sglang_contracts.suite.violation import Inapplicable, expect

WINDOW = 32
"""Tokens that are timed together."""

AGAIN = 3
"""How often a fault must show itself."""

STALLS = 24
"""First tokens of the same prompt length that are timed."""


@check(
    "latency.no-step-while-decoding",
    5,
    "the time between tokens grows evenly with the context, without a step",
    clauses=("attention-backend/forward_decode",),
    why="a kernel that changes its path at some length, or memory that is allocated at intervals, "
    "makes long conversations slow at once",
)
def no_step_while_decoding(session: Session) -> None:
    """Stream long answers and look for a step in the times of windows."""
    length = min(session.extent.decode, session.longest - 96)
    if length < 8 * WINDOW:
        raise Inapplicable(f"the server takes answers of {length} tokens: too short for a baseline")
    found = None
    for turn in range(AGAIN):
        session.tell(f"streaming answers of {length} tokens")
        series = _series(session, length, turn)
        each_window = [min(each) for each in zip(*map(_windows, series), strict=False)]
        found = statistics.step(each_window)
        places = [64.0 + WINDOW * (index + 0.5) for index in range(len(each_window))]
        session.measured["milliseconds between tokens"] = {
            f"{round(place)}": round(1000 * each, 3)
            for place, each in zip(places, each_window, strict=True)
        }
        session.plots["between tokens"] = Plot(
            "Time between tokens over growing context",
            "tokens of context",
            "ms",
            tuple(64.0 + index for index in range(len(series[0]))),
            tuple(1000 * each for each in series[0]),
            tuple(places),
            tuple(1000 * each for each in each_window),
            64.0 + WINDOW * found.at if found else None,
            f"a step of {1000 * (found.after - found.before):.1f} ms" if found else "",
        )
        if found is None:
            break
    grown = statistics.slope(places, each_window)
    if grown is not None:
        session.measured["milliseconds per token for 1000 tokens of context"] = round(
            1e6 * grown.value, 3
        )
    expect(
        found is None,
        f"the time between tokens steps from {1000 * found.before:.1f} to {1000 * found.after:.1f} "
        f"ms at about {64 + WINDOW * found.at} tokens of context, in each of {AGAIN} measurements"
        if found
        else "",
    )
    _compare(session, "milliseconds between tokens")


def _series(session: Session, length: int, turn: int) -> list[tuple[float, ...]]:
    """The time before each token, of some answers of that length."""
    found = []
    for repeat in range(session.extent.repeats):
        ids = tokens(8000 + 10 * turn + repeat, 64)
        answer = session.client.stream(Prompt(ids, new_tokens=length, logprobs=False))
        found.append(answer.gaps)
    return found


def _windows(gaps: Sequence[float]) -> list[float]:
    """The time for a token in each window.

    Of the whole window: a client that is late reads several tokens at once. Of some answers the
    least is taken afterwards, for a busy machine only ever adds.
    """
    starts = range(0, len(gaps) - WINDOW + 1, WINDOW)
    return [sum(gaps[at : at + WINDOW]) / WINDOW for at in starts]


@check(
    "latency.no-stalled-first-token",
    5,
    "the first token of like prompts takes about the same time each time",
    why="now and then a first token waits: a kernel is compiled, memory allocated, a lock held",
)
def no_stalled_first_token(session: Session) -> None:
    """Time the first token of prompts of one length, from an empty cache each."""
    stalled: Sequence[int] = ()
    for turn in range(AGAIN):
        session.tell(f"first tokens of {STALLS} prompts")
        times = _first_tokens(session, 96, STALLS, 8500 + 100 * turn)
        stalled = statistics.outliers(times)
        session.plots["first token of like prompts"] = Plot(
            "First token of prompts of 96 tokens",
            "request",
            "ms",
            tuple(float(index) for index in range(len(times))),
            tuple(1000 * each for each in times),
            mark=float(stalled[0]) if stalled else None,
            note="stalled" if stalled else "",
        )
        if not stalled:
            break
    worst = max(times)
    named = ", ".join(map(str, stalled[:8]))
    expect(
        not stalled,
        f"of {STALLS} first tokens of like prompts {len(stalled)} stalled (requests {named}), for "
        f"up to {worst:.2f} s where {median(times):.3f} s is usual, each of {AGAIN} times",
    )


def _first_tokens(session: Session, length: int, count: int, seed: int) -> list[float]:
    return [
        session.client.stream(
            Prompt(tokens(seed + index, length), new_tokens=2, logprobs=False)
        ).first
        for index in range(count)
    ]


@check(
    "latency.first-token-over-prompts",
    5,
    "the time to the first token is measured over prompt lengths, and held to the baseline",
    clauses=("attention-backend/forward_extend",),
    why="a prefill that is slower than it was last week is noticed by customers first",
)
def first_token_over_prompts(session: Session) -> None:
    """Time the first token over growing prompts."""
    lengths = [each for each in session.extent.prompts if each <= session.longest - 16]
    times = {}
    for number, length in enumerate(lengths):
        session.tell(f"first tokens of prompts of {length} tokens")
        times[length] = min(
            _first_tokens(session, length, session.extent.repeats, 9000 + 10 * number)
        )
    session.measured["milliseconds to the first token"] = {
        str(length): round(1000 * each, 3) for length, each in times.items()
    }
    session.plots["first token"] = Plot(
        "First token over prompt length",
        "tokens of the prompt",
        "ms",
        tuple(map(float, times)),
        tuple(1000 * each for each in times.values()),
        tuple(map(float, times)),
        tuple(1000 * each for each in times.values()),
    )
    _compare(session, "milliseconds to the first token")


def _compare(session: Session, name: str) -> None:
    """Hold a table of milliseconds to the baseline's."""
    if not session.baseline:
        session.omitted.append("no baseline was given (serve-check --baseline FILE)")
        return
    old, new = session.baseline.get(name), session.measured.get(name)
    if not isinstance(old, dict) or not isinstance(new, dict):
        session.omitted.append(f"the baseline has no '{name}'")
        return
    both = [key for key in new if isinstance(old.get(key), (int, float)) and old[key] > 0]
    if not both:
        session.omitted.append(f"the baseline has '{name}' at other places")
        return
    ratio = median(new[key] / old[key] for key in both)
    session.measured[f"{name}, as a multiple of the baseline"] = round(ratio, 3)
    worst = max(both, key=lambda key: new[key] / old[key])
    expect(
        ratio <= session.slower,
        f"{name}: {ratio:.2f} times the baseline in the median of {len(both)} places (at {worst} "
        f"tokens {new[worst]:g} ms, {old[worst]:g} ms in the baseline); {session.slower:g} times "
        "is allowed",
    )
