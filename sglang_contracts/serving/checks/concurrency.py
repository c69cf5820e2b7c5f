"""Concurrency: many requests at once are answered as they are one by one."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Sequence

from sglang_contracts.serving.checks.answers import differing
from sglang_contracts.serving.client import Answer, Prompt, ServingError
from sglang_contracts.serving.registry import check
from sglang_contracts.serving.session import Session, answered, tokens
from sglang_contracts.suite.violation import Inapplicable, expect

NEW_TOKENS = 12
ENOUGH = 3
"""Tokens that agree where an answer goes on as another request's: fewer may agree by chance."""


def shared(count: int, page: int) -> list[Prompt]:
    """Prompts of different lengths, half of them on prefixes that they share."""
    prefixes = [tokens(100 + index, 3 * page + 2 * index) for index in range(3)]
    found = []
    for index in range(count):
        rest = tokens(200 + index, 5 + (index * 37) % (4 * page + 20))
        head = prefixes[index % 3] if index % 2 else ()
        found.append(Prompt((*head, *rest), new_tokens=NEW_TOKENS))
    return found


def mixed_up(
    wanted: Sequence[Answer], found: Sequence[Answer | ServingError], how: str
) -> list[str]:
    """Which request got what, for each that did not get its own; none: all is well."""
    said = []
    for index, (own, got) in enumerate(zip(wanted, found, strict=True)):
        if isinstance(got, ServingError):
            said.append(f"request {index} of {len(wanted)} {how} got no answer: {got}")
            continue
        split = differing(own.ids, got.ids)
        if split is None:
            continue
        whose = _whose(wanted, index, split, got.ids)
        said.append(
            f"request {index} of {len(wanted)} {how} differs from its own answer alone at token "
            f"{split}: {whose}"
        )
    return said


def _whose(wanted: Sequence[Answer], index: int, split: int, ids: tuple[int, ...]) -> str:
    """Whose tokens an answer has from a position on."""
    for length in (ENOUGH, 1):
        piece = ids[split : split + length]
        for other, each in enumerate(wanted):
            if other != index and piece and each.ids[split : split + length] == piece:
                tokens = "from there on it has the tokens" if length > 1 else "it has the token"
                return f"{tokens} of request {other}"
    return "its tokens from there on are no other request's at that place"


def alone(session: Session, prompts: Sequence[Prompt]) -> list[Answer]:
    """The answers to the prompts, one after the other, each from an empty batch."""
    session.flush()
    return [session.client.generate(prompt) for prompt in prompts]


def _hold(session: Session, at_once: int, *, stream: bool = False, rounds: int = 2) -> None:
    prompts = shared(at_once, session.page_size)
    session.tell(f"{at_once} requests, one after the other")
    wanted = alone(session, prompts)
    how = f"sent at once{' as streams' if stream else ''}"
    for number in range(rounds):
        session.flush()
        session.tell(f"{at_once} requests at once{', streamed' if stream else ''}")
        found = session.all(prompts, at_once, stream)
        wrong = mixed_up(wanted, found, how)
        expect(not wrong, _few(wrong, f" (round {number + 1})"))


def _few(said: Sequence[str], where: str = "") -> str:
    more = f"\nand {len(said) - 5} more" if said[5:] else ""
    return "\n".join(said[:5]) + more + where


@check(
    "concurrency.equal-one-by-one",
    5,
    "requests that are sent at once get the answers that they get one by one",
    clauses=("attention-backend/forward_decode", "kv-pool-mha/set_kv_buffer"),
    why="keys and values at displaced slots mix up texts of different customers, now and then",
)
def equal_one_by_one(session: Session) -> None:
    """Send 20, then more, at once."""
    for at_once in session.extent.concurrent:
        _hold(session, at_once)


@check(
    "concurrency.streams-equal-one-by-one",
    5,
    "streams that are read at once get the answers that requests get one by one",
    why="a middleware that buffers or reorders shows itself in streams alone",
)
def streams_equal(session: Session) -> None:
    """The same 20 as streams."""
    _hold(session, session.extent.concurrent[0], stream=True, rounds=1)


@check(
    "concurrency.equal-without-overlap",
    5,
    "without the overlap schedule the answers are the same",
    why="what the host prepares while the card still computes must not change what is computed",
)
def equal_without_overlap(session: Session) -> None:
    """Start another server with ``--disable-overlap-schedule`` and ask it the same."""
    if session.further is None:
        raise Inapplicable("another server is started only where this one was started here")
    flag = "--disable-overlap-schedule"
    if session.info.get("disable_overlap_schedule"):
        raise Inapplicable(f"the server was started with {flag}")
    prompts = shared(session.extent.concurrent[0], session.page_size)
    wanted = alone(session, prompts)
    session.tell(f"another server, with {flag}")
    with session.further((flag,)) as server:
        other = Session(server.client, session.extent, server, tell=session.tell)
        expect(
            bool(other.info.get("disable_overlap_schedule")),
            f"the server with {flag} says that it overlaps",
        )
        found = other.all(prompts, len(prompts))
    wrong = mixed_up(wanted, found, f"sent at once to a server with {flag}")
    expect(not wrong, _few(wrong))


@check(
    "concurrency.after-abort",
    5,
    "requests that are aborted give their pages back, and what follows is answered rightly",
    why="each abort leaks slots until the pool is full: requests queue and nobody knows why",
)
def after_abort(session: Session) -> None:
    """Abort running requests by name, again and again."""

    def abort(session: Session, prompt: Prompt) -> None:
        pieces = session.client.pieces(prompt)
        next(pieces)
        reply = session.client.request("POST", "/abort_request", {"rid": prompt.rid})
        expect(reply.status == 200, f"POST /abort_request: status {reply.status}")
        for _ in pieces:  # to the end that the abort makes
            pass

    _given_back(session, abort, "aborted")


@check(
    "concurrency.after-hang-up",
    5,
    "requests whose client hangs up give their pages back, and what follows is answered rightly",
    why="impatient clients are many: what they leave behind must not fill the pool",
)
def after_hang_up(session: Session) -> None:
    """Hang up in the middle of streams, again and again."""

    def hang_up(session: Session, prompt: Prompt) -> None:
        pieces = session.client.pieces(prompt)
        next(pieces)
        pieces.close()

    _given_back(session, hang_up, "hung up on")


def _given_back(session: Session, leave: Callable[[Session, Prompt], None], what: str) -> None:
    """Leave requests in their middle; free slots and answers must be what they were."""
    prompts = shared(8, session.page_size)
    wanted = alone(session, prompts)
    session.flush()
    before = used(session)
    for number in range(6):
        ids = tokens(900 + number, 3 * session.page_size + 7)
        long = Prompt(ids, new_tokens=400, logprobs=False, rid=session.rid())
        try:
            leave(session, long)
        except ServingError as error:
            if not session.alive():
                raise
            session.omitted.append(f"request {number}: {error}")
        found = session.all(prompts, len(prompts))
        wrong = mixed_up(wanted, found, f"sent at once after one was {what}")
        expect(not wrong, _few(wrong))
    idle(session, what)
    after = used(session)
    if before is None or after is None:
        session.omitted.append("the server does not say how many tokens its pool holds in use")
        return
    expect(
        after <= before,
        f"after 6 requests were {what}, {after - before:.0f} tokens of the pool are in use by "
        "nobody",
    )


def used(session: Session) -> float | None:
    """Tokens of the pool that neither are free nor in the prefix cache, as a small request sees it.

    The cache is not emptied for it: SGLang would set up the whole pool anew, leaks and all.
    """
    found = None
    for turn in range(2):  # gauges are written by the next batch, not by the one that has ended
        session.client.generate(Prompt(tokens(5 + turn, 4), new_tokens=2))
        page = session.metrics()
        size = page.total("sglang:max_total_num_tokens") or session.capacity
        free, cached = (
            page.total("sglang:kv_available_tokens"),
            page.total("sglang:kv_evictable_tokens"),
        )
        if size and free is not None and cached is not None:
            found = size - free - cached
        else:
            found = page.total("sglang:num_used_tokens")
    return found


def idle(session: Session, what: str, seconds: float = 30.0, fewest: int = 100) -> None:
    """Wait until no request runs: one whose client is gone must end by itself.

    Args:
        session: The server.
        what: What was done with the requests.
        seconds: How long they may take.
        fewest: How often the server is asked at the least: a slow machine answers less often.
    """
    end = time.monotonic() + seconds
    for turn in itertools.count():
        running = session.metrics().total("sglang:num_running_reqs")
        if not running:
            return
        expect(
            turn < fewest or time.monotonic() < end,
            f"{running:.0f} requests still run {seconds:.0f} s after they were {what}",
        )
        if turn % 5 == 4:  # its gauge may be that of the last batch: another one writes it anew
            answered(session.all([Prompt(tokens(8, 4), new_tokens=1)], 1)[0])
        time.sleep(0.1)
