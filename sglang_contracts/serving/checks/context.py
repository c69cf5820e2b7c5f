"""A long prompt: it is served, remembered as a prefix, and takes no memory that stays."""

from __future__ import annotations

from sglang_contracts.serving.checks.answers import differing, worst
from sglang_contracts.serving.client import Prompt
from sglang_contracts.serving.registry import check
from sglang_contracts.serving.session import Session, tokens
from sglang_contracts.suite.violation import Inapplicable, expect

GROWTH = 96 << 20
"""Bytes that a server may keep of a second long prompt: Python's own heap moves."""


@check(
    "context.long-prompt",
    5,
    "a long prompt is answered, comes from the cache the second time, and keeps no further memory",
    clauses=("attention-backend/forward_extend",),
    why="a pool that grows on demand takes memory at intervals, until there is none",
)
def long_prompt(session: Session) -> None:
    """Ask for a long prompt twice, then for another one of that length."""
    length = min(session.extent.context, session.longest - 64)
    if length < 1024:
        raise Inapplicable(f"the server takes {length} tokens: no long prompt fits")
    if length < session.extent.context:
        session.omitted.append(
            f"the server takes {session.longest} tokens: {length} were asked, not "
            f"{session.extent.context}"
        )
    first, other = (Prompt(tokens(seed, length), new_tokens=4) for seed in (6100, 6200))
    session.flush()
    session.tell(f"a prompt of {length} tokens")
    computed = session.client.generate(first)
    after_one = session.memory()
    session.tell(f"the same {length} tokens again")
    cached = session.client.generate(first)
    session.flush()
    session.tell(f"another prompt of {length} tokens")
    session.client.generate(other)
    after_two = session.memory()
    session.measured["long prompt"] = {
        "tokens": length,
        "seconds": round(computed.seconds, 3),
        "seconds from the cache": round(cached.seconds, 3),
        "cached tokens": cached.cached,
        "bytes kept by a second one": after_two - after_one,
    }
    expect(
        computed.prompt_tokens == length,
        f"the server says that a prompt of {length} tokens has {computed.prompt_tokens}",
    )
    least = length - 2 * session.page_size
    if session.info.get("disable_radix_cache"):
        session.omitted.append("the prefix cache is switched off")
    else:
        expect(
            cached.cached >= least,
            f"of a prompt of {length} tokens that was just served, {cached.cached} came from the "
            f"cache; at least {least} could",
        )
    split = differing(computed.ids, cached.ids)
    expect(split is None, f"from the cache, token {split} of the answer is another one")
    _, far = worst(computed.logprobs, cached.logprobs)
    expect(
        far <= session.tolerance,
        f"from the cache, the answer's log-probabilities differ by {far:.4f}; "
        f"{session.tolerance:g} is allowed",
    )
    if not after_one or not after_two:
        session.omitted.append("the server's memory is not to be had here (serve-check --pid)")
        return
    expect(
        after_two - after_one <= GROWTH,
        f"a second prompt of {length} tokens took {(after_two - after_one) >> 20} MiB that the "
        f"server kept; {GROWTH >> 20} are allowed",
    )
