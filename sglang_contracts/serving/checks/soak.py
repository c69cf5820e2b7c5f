"""Soak: for minutes or hours, memory stays flat and no slow requests pile up."""

from __future__ import annotations

import random
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from statistics import median

from sglang_contracts.serving import statistics
from sglang_contracts.serving.client import Prompt, ServingError
from sglang_contracts.serving.plot import Plot
from sglang_contracts.serving.registry import check
from sglang_contracts.serving.session import Session, tokens
from sglang_contracts.suite.violation import expect

WARM = 0.25
"""Part of the run that memory may take to become flat."""

GROWTH_BYTES, GROWTH_PART = 64 << 20, 0.02
"""What a server may grow by, as bytes and as a part of what it holds: caches fill, heaps move."""

FEWEST = 300
"""Requests without which a slope says nothing: a soak on a slow machine lasts until it has them.

A megabyte a request has to grow past :data:`GROWTH_PART` of a server's four or five gigabytes, in
what is left behind :data:`WARM`, at the low end of its confidence."""

AT_MOST = 60.0
"""Seconds that it may last longer for that."""

LONG = 60.0
"""Seconds without which the slope of a latency says nothing: it would be the neighbours'."""


@dataclass(frozen=True)
class Request:
    """One request of the soak."""

    rid: str
    began: float
    seconds: float
    size: int
    """Tokens of prompt and answer."""
    failed: str = ""


@dataclass
class Run:
    """What was seen."""

    requests: list[Request] = field(default_factory=list)
    memory: list[tuple[float, int, int]] = field(default_factory=list)
    """Seconds, requests so far, bytes."""
    interrupted: bool = False


@check(
    "soak.flat",
    5,
    "memory stays flat, latency does not grow, and no slow requests pile up",
    why="what leaks a megabyte a request is down by night",
)
def flat(session: Session) -> None:
    """Ask for all kinds of requests for as long as was said."""
    run = _soak(session)
    _draw(session, run)
    done = [each for each in run.requests if not each.failed]
    slow = _slow(done)
    session.measured["soak"] = {
        "seconds": round(max((r.began + r.seconds for r in run.requests), default=0.0), 1),
        "requests": len(run.requests),
        "failed": len(run.requests) - len(done),
        "slow": [
            {"request": r.rid, "at": round(r.began, 1), "seconds": round(r.seconds, 3)}
            for r in slow[:100]
        ],
        "interrupted": run.interrupted,
    }
    if run.interrupted:
        session.interrupted = True
        session.omitted.append("it was interrupted: what follows is of the part that ran")
    _no_failures(run)
    _memory(session, run)
    _latency(session, run, done, slow)


def _soak(session: Session) -> Run:
    run, stop, lock = Run(), threading.Event(), threading.Lock()
    begin, total = time.monotonic(), session.extent.soak

    def over() -> bool:
        passed = time.monotonic() - begin
        return passed >= total and (len(run.requests) >= FEWEST or passed >= total + AT_MOST)

    def client(number: int) -> None:
        drawn = random.Random(number)  # noqa: S311 - which prompt comes next
        count = 0
        while not stop.is_set() and not over():
            count += 1
            length, new = drawn.choice((16, 40, 90, 200)), drawn.choice((2, 8, 16))
            head = tokens(drawn.randrange(12), 32) if drawn.random() < 0.5 else ()
            ids = (*head, *tokens(drawn.randrange(1 << 30), length))
            rid, at = session.rid(), time.monotonic() - begin
            prompt = Prompt(ids, new_tokens=new, logprobs=False, rid=rid)
            failed = ""
            try:
                ask = session.client.stream if count % 3 == 0 else session.client.generate
                seconds = ask(prompt, timeout=60.0).seconds
            except ServingError as error:
                seconds, failed = time.monotonic() - begin - at, str(error)
            with lock:
                run.requests.append(Request(rid, at, seconds, len(ids) + new, failed))
            if failed and not session.alive():
                stop.set()

    every = max(0.1, min(10.0, total / 200))
    with ThreadPoolExecutor(session.extent.soak_threads) as pool:
        waiting = [pool.submit(client, each) for each in range(session.extent.soak_threads)]
        try:
            while not all(each.done() for each in waiting):
                now = time.monotonic() - begin
                run.memory.append((now, len(run.requests), session.memory()))
                session.tell(f"soak: {now:.0f} of {total:.0f} s, {len(run.requests)} requests")
                stop.wait(every)
                if stop.is_set():
                    break
        except KeyboardInterrupt:
            run.interrupted = True
        finally:
            stop.set()
    run.memory.append((time.monotonic() - begin, len(run.requests), session.memory()))
    run.requests.sort(key=lambda each: each.began)
    return run


def _slow(done: list[Request]) -> list[Request]:
    """Requests that took far longer than others of their size."""
    sizes: dict[int, list[Request]] = {}
    for each in done:
        sizes.setdefault(each.size // 64, []).append(each)
    found = []
    for group in sizes.values():
        found += [group[i] for i in statistics.outliers([r.seconds for r in group], 6.0, 0.5)]
    return sorted(found, key=lambda each: each.began)


def _draw(session: Session, run: Run) -> None:
    times = tuple(each.began for each in run.requests)
    session.plots["soak: latency"] = Plot(
        "Soak: seconds of each request",
        "seconds",
        "s",
        times,
        tuple(each.seconds for each in run.requests),
    )
    if any(size for _, _, size in run.memory):
        xs = tuple(at for at, _, _ in run.memory)
        ys = tuple(size / (1 << 20) for _, _, size in run.memory)
        session.plots["soak: memory"] = Plot(
            "Soak: memory of the server's processes", "seconds", "MiB", xs, ys, xs, ys
        )


def _no_failures(run: Run) -> None:
    failed = [each for each in run.requests if each.failed]
    expect(
        not failed,
        f"{len(failed)} of {len(run.requests)} requests failed, the first {failed[0].began:.1f} s "
        f"after the start ({failed[0].rid}): {failed[0].failed}"
        if failed
        else "",
    )


def _memory(session: Session, run: Run) -> None:
    total = len(run.requests)
    kept = [(count, size) for _, count, size in run.memory if size and count >= WARM * total]
    if not kept:
        session.omitted.append("the server's memory is not to be had here (serve-check --pid)")
        return
    found = statistics.slope([c for c, _ in kept], [s / (1 << 20) for _, s in kept])
    if total < FEWEST or found is None:
        session.omitted.append(f"{total} requests are too few for the slope of memory")
        return
    session.measured["MiB of memory that a request leaves"] = {
        "slope": round(found.value, 5),
        "low": round(found.low, 5),
        "high": round(found.high, 5),
        "confidence": found.confidence,
    }
    grown = found.low * (kept[-1][0] - kept[0][0])
    allowed = max(GROWTH_BYTES, GROWTH_PART * kept[0][1]) / (1 << 20)
    expect(
        grown <= allowed,
        f"memory grows by {found.value:.2f} MiB a request ({found.low:.2f} to {found.high:.2f} at "
        f"{found.confidence:.0%} confidence): at least {grown:.0f} MiB over "
        f"{kept[-1][0] - kept[0][0]} requests, where {allowed:.0f} are allowed",
    )


def _latency(session: Session, run: Run, done: list[Request], slow: list[Request]) -> None:
    if not done:
        return
    lasted = done[-1].began
    thirds = [[r for r in slow if part * lasted / 3 <= r.began] for part in range(3)]
    early = len(slow) - len(thirds[1])
    late = len(thirds[2])
    expect(
        late <= 3 + 2 * early,
        f"slow requests pile up: {early} in the first third, {late} in the last; the last of them "
        f"{slow[-1].rid}, {slow[-1].seconds:.2f} s, {slow[-1].began:.1f} s after the start"
        if slow
        else "",
    )
    if lasted < LONG:
        session.omitted.append(f"{lasted:.0f} s are too short for the slope of latency")
        return
    # In windows: a request's own size weighs more than its time.
    size = max(1, len(done) // 60)
    medians = statistics.windows([each.seconds for each in done], size)
    starts = [done[index * size].began for index in range(len(medians))]
    found = statistics.slope(starts, medians)
    if found is None:
        session.omitted.append(f"{len(done)} requests are too few for the slope of latency")
        return
    usual = median(medians)
    session.measured["part of the usual latency that an hour adds"] = round(
        3600 * found.value / usual, 4
    )
    grown = found.low * lasted
    expect(
        grown <= usual,
        f"latency grew by at least {1000 * grown:.0f} ms over {lasted:.0f} s "
        f"({found.confidence:.0%} confidence) where {1000 * usual:.0f} ms are usual",
    )
