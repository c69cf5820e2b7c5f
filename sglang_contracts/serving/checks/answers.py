"""Answers: the same log-probabilities as another machine, and the same ones twice."""

from __future__ import annotations

from sglang_contracts.serving.client import Answer, Prompt
from sglang_contracts.serving.registry import check
from sglang_contracts.serving.run_file import Recorded
from sglang_contracts.serving.session import Session, tokens
from sglang_contracts.suite.violation import Inapplicable, expect

CLOSE = 0.02
"""By how much the best token may lead the next for rounding to choose the other, at the least."""


def worst(wanted: tuple[float, ...], found: tuple[float, ...]) -> tuple[int, float]:
    """Where two series of log-probabilities differ most, and by how much."""
    pairs = list(zip(wanted, found, strict=False))
    if not pairs:
        return 0, 0.0
    at = max(range(len(pairs)), key=lambda index: abs(pairs[index][0] - pairs[index][1]))
    return at, abs(pairs[at][0] - pairs[at][1])


def differing(wanted: tuple[int, ...], found: tuple[int, ...]) -> int | None:
    """The first position at which two answers differ; None where they are equal."""
    if wanted == found:
        return None
    same = (
        index for index, pair in enumerate(zip(wanted, found, strict=False)) if len({*pair}) > 1
    )
    return next(same, min(len(wanted), len(found)))


@check(
    "answers.equal-run-file",
    5,
    "log-probabilities of prompts and answers are those of the run file, within the tolerance",
    why="the model answers fluently and is still another model: accuracy falls unnoticed",
)
def equal_run_file(session: Session) -> None:
    """Hold greedy answers, and the recorded answers' log-probabilities, to the run file."""
    if session.expected is None:
        raise Inapplicable(
            "no run file was given (serve-check --run-file FILE; --record FILE makes one)"
        )
    largest = 0.0
    for number, wanted in enumerate(session.expected.answers):
        session.tell(f"prompt {number + 1} of {len(session.expected.answers)} of the run file")
        largest = max(largest, _one(session, number, wanted))
    session.measured["largest difference of log-probabilities"] = round(largest, 5)


def _one(session: Session, number: int, wanted: Recorded) -> float:
    name = f"prompt {number} of the run file ({len(wanted.prompt)} tokens)"
    whole = Prompt((*wanted.prompt, *wanted.ids), new_tokens=1, prompt_logprobs=True)
    given = session.client.generate(whole).prompt_logprobs
    recorded = (*wanted.prompt_logprobs, *wanted.logprobs)
    expect(
        len(given) == len(recorded),
        f"{name}: log-probabilities of {len(given)} tokens came, {len(recorded)} are recorded",
    )
    at, far = worst(recorded, given)
    part = "prompt" if at < len(wanted.prompt_logprobs) else "recorded answer"
    place = at + 1 if part == "prompt" else at - len(wanted.prompt_logprobs)
    first = next(
        i
        for i, (a, b) in enumerate(zip(recorded, given, strict=True))
        if abs(a - b) >= far or abs(a - b) > session.tolerance
    )
    expect(
        far <= session.tolerance,
        f"{name}: log-probabilities differ by up to {far:.4f} (token {place} of the {part}); "
        f"{session.tolerance:g} is allowed; the first beyond it is token {first + 1} of prompt and "
        f"answer together, {recorded[first]:.4f} recorded, {given[first]:.4f} found",
    )
    own = session.client.generate(Prompt(wanted.prompt, new_tokens=len(wanted.ids)))
    split = differing(wanted.ids, own.ids)
    if split is not None:
        lead = wanted.lead[split] if split < len(wanted.lead) else 0.0
        expect(
            bool(wanted.lead) and lead <= max(CLOSE, session.tolerance),
            f"{name}: token {split} of the answer is {own.ids[split : split + 1]}, recorded is "
            f"{wanted.ids[split : split + 1]}, though it led the next by {lead:.4f}",
        )
    until = len(wanted.ids) if split is None else split
    at, off = worst(wanted.logprobs[:until], own.logprobs[:until])
    expect(
        off <= session.tolerance,
        f"{name}: log-probabilities of the answer differ by up to {off:.4f} while decoding (token "
        f"{at}); {session.tolerance:g} is allowed",
    )
    return max(far, off)


@check(
    "answers.same-from-the-cache",
    5,
    "a prompt whose prefix is cached is answered as it was when it was computed",
    clauses=("attention-backend/forward_extend",),
    why="a prefix that is served stale or displaced gives fluent text about something else",
)
def same_from_the_cache(session: Session) -> None:
    """Ask for prompts, then for longer ones on them, then for those from an empty cache."""
    page = session.page_size
    base = [tokens(7100 + index, 6 * page + 5 + index) for index in range(4)]
    longer = [Prompt((*each, *tokens(7200 + index, 9))) for index, each in enumerate(base)]
    session.flush()
    for each in base:
        session.client.generate(Prompt(each, new_tokens=2))
    cached = [session.client.generate(each) for each in longer]
    session.flush()
    computed = [session.client.generate(each) for each in longer]
    for index, (found, wanted) in enumerate(zip(cached, computed, strict=True)):
        said = f"prompt {index} of {len(longer[index].ids)} tokens, {found.cached} of them cached"
        _same(said, wanted, found, session.tolerance)
    if not any(each.cached for each in cached):
        session.omitted.append("nothing came from the prefix cache: it may be switched off")


def _same(said: str, wanted: Answer, found: Answer, tolerance: float) -> None:
    split = differing(wanted.ids, found.ids)
    expect(
        split is None,
        f"{said}: token {split} of the answer differs from that of an empty cache",
    )
    at, far = worst(wanted.logprobs, found.logprobs)
    expect(
        far <= tolerance,
        f"{said}: the log-probability of token {at} differs by {far:.4f} from that of an empty "
        f"cache; {tolerance:g} is allowed",
    )
