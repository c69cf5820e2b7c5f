"""From logits to the next token."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sglang_contracts.suite.context import Context
from sglang_contracts.suite.device import told, watched
from sglang_contracts.suite.registry import check
from sglang_contracts.suite.violation import ask, describe, expect

ALL = 1 << 30
"""``top_k`` that keeps everything, as SGLang writes it."""
_ROWS = 2048
_LARGEST = 200_064
_CLAUSES = ("sampling/temperatures", "sampling/top_ps", "sampling/top_ks")


def _sample(
    context: Context,
    logits: Any,
    temperatures: Sequence[float],
    top_ps: Sequence[float],
    top_ks: Sequence[int],
    min_ps: Sequence[float] | None = None,
    seed: int = 0,
) -> list[int]:
    import torch

    info = context.builder.sampling_info(
        "cpu", temperatures, top_ps, top_ks, vocab_size=logits.shape[1]
    )
    if min_ps is not None:
        info.min_ps = torch.tensor(list(min_ps), dtype=torch.float32)
        info.need_min_p_sampling = True
    torch.manual_seed(context.seed + seed)
    given = logits.clone() if logits.is_contiguous() else logits
    found = ask(f"sampling {len(logits)} rows", context.subject.sampler, given, info)
    expect(
        hasattr(found, "dtype") and tuple(found.shape) == (len(logits),),
        f"sampling {len(logits)} rows gives {describe(found)}, not one token id a row",
    )
    return [int(token) for token in found.tolist()]


def _probabilities(*values: float) -> Any:
    import torch

    return torch.tensor(values).log()[None]


@check(
    "sampler.gives-a-token-id-a-row",
    2,
    "The sampler gives one integer token id for each row, within the vocabulary",
    needs=("sampler",),
    clauses=("sampling/vocab_size",),
    forbids_raising=True,
    why="The detokenizer takes them as they are.",
)
def _ids(context: Context) -> None:
    import torch

    for rows, vocab in ((1, 7), (5, 33), (64, 1000)):
        logits = torch.randn(rows, vocab, generator=torch.Generator().manual_seed(rows))
        info = context.builder.sampling_info("cpu", [0.8] * rows, [0.9] * rows, [20] * rows, vocab)
        found = ask("sampling", context.subject.sampler, logits, info)
        expect(
            hasattr(found, "dtype") and str(found.dtype) in ("torch.int32", "torch.int64"),
            f"sampling gives {describe(found)}; token ids are int32 or int64",
        )
        expect(
            tuple(found.shape) == (rows,),
            f"sampling {rows} rows gives {describe(found)}, not [{rows}]",
        )
        expect(
            int(found.min()) >= 0 and int(found.max()) < vocab,
            f"sampling gives an id outside the vocabulary of {vocab}",
        )
    logits = torch.zeros(2, _LARGEST)  # as large as vocabularies are, the best token its last
    logits[:, -1] = 30
    for name, temperatures in (("greedy", [0.0] * 2), ("sampled", [0.8] * 2)):
        drawn = _sample(context, logits, temperatures, [0.9] * 2, [20] * 2)
        expect(
            drawn == [_LARGEST - 1] * 2,
            f"of a vocabulary of {_LARGEST} the last token is not given although it is by far the "
            f"most likely one ({name})",
        )


@check(
    "sampler.temperature-zero-is-greedy",
    3,
    "Temperature 0 gives the most likely token, alone and beside sampled rows",
    needs=("sampler",),
    clauses=_CLAUSES,
    why="Every regression test of a customer runs at temperature 0.",
)
def _greedy(context: Context) -> None:
    import torch

    logits = torch.randn(64, 50, generator=torch.Generator().manual_seed(1))
    best = logits.argmax(-1).tolist()
    found = _sample(context, logits, [0.0] * 64, [1.0] * 64, [ALL] * 64)
    wrong = sum(a != b for a, b in zip(found, best, strict=True))
    expect(not wrong, f"at temperature 0, {wrong} of 64 rows are not the most likely token")
    for seed in range(4):
        temperatures = [0.0 if row % 2 else 1.5 for row in range(64)]
        found = _sample(context, logits, temperatures, [1.0] * 64, [ALL] * 64, seed=seed)
        wrong = sum(found[row] != best[row] for row in range(1, 64, 2))
        expect(
            not wrong,
            f"beside sampled rows, {wrong} of 32 rows at temperature 0 are not the most likely "
            "token",
        )
    wide = torch.cat([logits, torch.full((64, 14), 9.0)], 1)  # as a padded vocabulary is cut off
    found = _sample(context, wide[:, :50], [0.0] * 64, [1.0] * 64, [ALL] * 64)
    wrong = sum(a != b for a, b in zip(found, best, strict=True))
    expect(
        not wrong,
        f"at temperature 0, {wrong} of 64 rows that are slices of wider ones are not the most "
        "likely token",
    )
    found = _sample(context, logits, [1.0] * 64, [1.0] * 64, [1] * 64)
    wrong = sum(a != b for a, b in zip(found, best, strict=True))
    expect(not wrong, f"with top_k 1, {wrong} of 64 rows are not the most likely token")
    ties = torch.zeros(64, 50)
    ties[:, [7, 31]] = 4.0  # as bfloat16 makes them
    top_ks = [1 if row % 2 else ALL for row in range(64)]
    tokens = {
        token
        for seed in range(4)
        for token in _sample(context, ties, [1.0] * 64, [1.0] * 64, top_ks, seed=seed)[1::2]
    }
    expect(
        len(tokens) == 1 and tokens <= {7, 31},
        f"where two tokens are the most likely, greedy rows beside sampled ones give "
        f"{len(tokens)} different ones: ranks that draw apart go on apart",
    )


@check(
    "sampler.top-p-is-kept",
    3,
    "Only tokens of the smallest set that reaches top_p are drawn, and all of them are",
    needs=("sampler",),
    clauses=_CLAUSES,
    why="A top_p without effect shows as rambling answers.",
)
def _top_p(context: Context) -> None:
    logits = _probabilities(0.02, 0.4, 0.08, 0.3, 0.2).repeat(_ROWS, 1)
    order = [1, 3, 4, 2, 0]
    for top_p, kept in ((0.3, 1), (0.6, 2), (0.85, 3), (0.95, 4), (1.0, 5)):
        found = set(_sample(context, logits, [1.0] * _ROWS, [top_p] * _ROWS, [ALL] * _ROWS))
        allowed = set(order[:kept])
        expect(
            found <= allowed,
            f"with top_p {top_p}, {len(found - allowed)} tokens outside the nucleus are drawn",
        )
        expect(
            found == allowed,
            f"with top_p {top_p}, {len(allowed - found)} tokens of the nucleus are never drawn in "
            f"{_ROWS} draws",
        )
    # Squares and roots of the chances: the nucleus is that of the heated distribution.
    for temperature, top_p, kept in ((0.5, 0.8, 2), (2.0, 0.8, 4)):
        heated = [temperature] * _ROWS
        found = set(_sample(context, logits, heated, [top_p] * _ROWS, [ALL] * _ROWS))
        expect(
            found == set(order[:kept]),
            f"with top_p {top_p} at temperature {temperature}, {len(found)} different tokens are "
            f"drawn, not {kept}: top_p is of the distribution after the temperature",
        )


@check(
    "sampler.top-k-is-kept",
    3,
    "Only the top_k most likely tokens are drawn, and all of them are",
    needs=("sampler",),
    clauses=_CLAUSES,
    why="A top_k off by one goes unnoticed for months.",
)
def _top_k(context: Context) -> None:
    logits = _probabilities(0.1, 0.15, 0.2, 0.25, 0.3).repeat(_ROWS, 1)
    for top_k in (1, 2, 3, 5, ALL):
        found = set(_sample(context, logits, [1.0] * _ROWS, [1.0] * _ROWS, [top_k] * _ROWS))
        allowed = set(range(max(0, 5 - top_k), 5))
        expect(
            found == allowed,
            f"with top_k {top_k}, {len(found - allowed)} further tokens are drawn and "
            f"{len(allowed - found)} of the {len(allowed)} are not, in {_ROWS} draws",
        )


@check(
    "sampler.temperature-shapes-the-draw",
    3,
    "Tokens are drawn as often as softmax(logits / temperature) says",
    needs=("sampler",),
    clauses=_CLAUSES,
    why="A temperature applied twice, or not at all, reads like another model.",
)
def _temperature(context: Context) -> None:
    import torch

    base = torch.tensor([2.0, 1.0, 0.0, -1.0])  # exact in every dtype
    rows = 2 * _ROWS
    for temperature, dtype in (
        (0.5, torch.float32),
        (1.0, torch.float32),
        (2.5, torch.float32),
        (1.5, torch.bfloat16),
    ):
        logits = base.repeat(rows, 1).to(dtype)
        found = _sample(context, logits, [temperature] * rows, [1.0] * rows, [ALL] * rows)
        wanted = torch.softmax(base.double() / temperature, -1).tolist()
        for token, chance in enumerate(wanted):
            share = found.count(token) / rows
            allowed = 5 * (chance * (1 - chance) / rows) ** 0.5 + 1e-3
            expect(
                abs(share - chance) <= allowed,
                f"at temperature {temperature}, token {token} is drawn in {share:.3f} of {rows} "
                f"draws; softmax says {chance:.3f}",
            )


@check(
    "sampler.rows-have-their-own-parameters",
    3,
    "In a mixed batch each row is drawn with its own temperature, top_k, top_p and min_p",
    needs=("sampler",),
    clauses=_CLAUSES,
    why="Requests with different settings share every batch.",
)
def _rows(context: Context) -> None:
    own: tuple[tuple[float, float, int, float, set[int]], ...] = (
        # temperature, top_p, top_k, min_p, tokens that may be drawn
        (1.0, 1.0, ALL, 0.0, {0, 1, 2, 3}),
        (0.01, 1.0, ALL, 0.0, {3}),
        (1.0, 0.35, ALL, 0.0, {3}),
        (1.0, 1.0, 2, 0.0, {2, 3}),
        (1.0, 1.0, ALL, 0.4, {1, 2, 3}),
    )
    kinds, times = len(own), _ROWS // len(own)
    logits = _probabilities(0.1, 0.2, 0.3, 0.4).repeat(kinds * times, 1)
    found = _sample(
        context,
        logits,
        temperatures=[row[0] for row in own] * times,
        top_ps=[row[1] for row in own] * times,
        top_ks=[row[2] for row in own] * times,
        min_ps=[row[3] for row in own] * times,
    )
    for kind, (*_, allowed) in enumerate(own):
        drawn = set(found[kind::kinds])
        expect(
            drawn == allowed,
            f"rows {kind}, {kind + kinds}, … of a mixed batch draw {len(drawn)} different tokens; "
            f"their own parameters allow {len(allowed)}",
        )


@check(
    "sampler.top-k-and-top-p-are-joint",
    3,
    "With top_k and top_p together a token must be in both sets of the full distribution",
    needs=("sampler",),
    clauses=_CLAUSES,
    why="SGLang takes both from the full distribution; renormalising between changes answers.",
)
def _joint(context: Context) -> None:
    logits = _probabilities(0.3, 0.25, 0.2, 0.15, 0.1).repeat(_ROWS, 1)
    # 0.7 of the full distribution takes three tokens; 0.7 of the first three alone takes two.
    for top_k, top_p, kept in ((3, 0.7, 3), (4, 0.76, 4), (2, 0.7, 2), (4, 0.5, 2), (5, 0.56, 3)):
        found = set(_sample(context, logits, [1.0] * _ROWS, [top_p] * _ROWS, [top_k] * _ROWS))
        expect(
            found == set(range(kept)),
            f"with top_k {top_k} and top_p {top_p}, {len(found)} different tokens are drawn, "
            f"not {kept}",
        )


@check(
    "sampler.min-p-is-kept",
    3,
    "Tokens less likely than min_p times the most likely one are not drawn",
    needs=("sampler",),
    clauses=("sampling/min_ps", "sampling/need_min_p_sampling"),
    why="A min_p without effect lets the tail in.",
)
def _min_p(context: Context) -> None:
    logits = _probabilities(0.5, 0.3, 0.15, 0.05).repeat(_ROWS, 1)
    for min_p, kept in ((0.05, 4), (0.2, 3), (0.5, 2), (0.9, 1)):
        found = set(
            _sample(context, logits, [1.0] * _ROWS, [1.0] * _ROWS, [ALL] * _ROWS, [min_p] * _ROWS)
        )
        expect(
            found == set(range(kept)),
            f"with min_p {min_p}, {len(found)} different tokens are drawn, not {kept}",
        )
    for temperature, min_p, kept in ((2.0, 0.5, 3), (0.5, 0.15, 2)):
        heated, least = [temperature] * _ROWS, [min_p] * _ROWS
        found = set(_sample(context, logits, heated, [1.0] * _ROWS, [ALL] * _ROWS, min_ps=least))
        expect(
            found == set(range(kept)),
            f"with min_p {min_p} at temperature {temperature}, {len(found)} different tokens are "
            f"drawn, not {kept}: min_p is of the distribution after the temperature",
        )


@check(
    "sampler.stays-on-the-device",
    4,
    "Sampling copies no logits to the host, and its token ids are on the device of the logits",
    needs=("sampler",),
    clauses=("logits-output/next_token_logits",),
    why="A vocabulary of logits through the host, in every step, costs more than the layers.",
)
def _device(context: Context) -> None:
    import torch

    with watched(context) as watch:
        rows, vocab = 8, 512
        logits = torch.randn(rows, vocab, generator=torch.Generator().manual_seed(2))
        there = logits.to(watch.device)
        info = context.builder.sampling_info(
            watch.device, [0.8] * rows, [0.9] * rows, [20] * rows, vocab
        )
        watch.take()
        with context.observed():
            found = ask("sampling on the device", context.subject.sampler, there, info)
        copied = [e for e in watch.transfers(watch.take()) if e.nbytes >= logits.nbytes // 2]
        expect(not copied, f"sampling copies the logits: {told(copied)}")
        expect(
            found.device == there.device,
            f"sampling gives {describe(found)}, the logits are on {there.device}",
        )


@check(
    "sampler.draws-are-fresh",
    3,
    "Rows and steps draw anew: the same logits give other tokens",
    needs=("sampler",),
    clauses=_CLAUSES,
    why="A generator seeded at each step answers every request of a prompt with one text.",
)
def _fresh(context: Context) -> None:
    import torch

    logits = torch.zeros(256, 100)
    info = context.builder.sampling_info("cpu", [1.0] * 256, [1.0] * 256, [ALL] * 256, 100)
    torch.manual_seed(context.seed)
    steps = [
        ask("sampling", context.subject.sampler, logits.clone(), info).tolist() for _ in range(3)
    ]
    for index in (1, 2):
        same = sum(a == b for a, b in zip(steps[0], steps[index], strict=True))
        expect(
            same < 128,
            f"step {index + 1} draws the same token as the first in {same} of 256 rows of 100 "
            "equally likely tokens",
        )
    # Of as many equally likely tokens as rows, a share of 1 - 1/e is drawn at least once: fewer
    # where rows share a random number, or where it has too few bits to tell tokens apart.
    rows = 1024
    once = _sample(context, torch.zeros(rows, rows), [1.0] * rows, [1.0] * rows, [ALL] * rows)
    expect(
        len(set(once)) > 590,
        f"{rows} rows of {rows} equally likely tokens draw {len(set(once))} different ones, not "
        "some 647: rows share random numbers, or these have too few bits",
    )
    alone = context.builder.sampling_info("cpu", [1.0], [1.0], [ALL], 100)
    drawn = {
        int(ask("sampling one row", context.subject.sampler, logits[:1].clone(), alone)[0])
        for _ in range(32)
    }
    expect(
        len(drawn) > 8,
        f"32 steps of a batch of one row draw {len(drawn)} of 100 equally likely tokens",
    )


@check(
    "sampler.masked-tokens-are-never-drawn",
    3,
    "Tokens whose logit is minus infinity are not drawn, whatever the parameters",
    needs=("sampler",),
    clauses=("sampling/apply_logits_bias", "logits-output/next_token_logits"),
    forbids_raising=True,
    why="A grammar masks tokens this way: one that is drawn all the same breaks the JSON.",
)
def _masked(context: Context) -> None:
    import torch

    logits = torch.full((_ROWS, 6), float("-inf"))
    logits[:, 2], logits[:, 4] = 0.3, 0.1
    for temperature, top_p, top_k in ((1.0, 1.0, ALL), (5.0, 1.0, 5), (0.5, 0.999, ALL)):
        found = set(
            _sample(context, logits, [temperature] * _ROWS, [top_p] * _ROWS, [top_k] * _ROWS)
        )
        expect(
            found == {2, 4},
            f"at temperature {temperature}, top_p {top_p}: of two tokens that are not masked "
            f"{len(found & {2, 4})} are drawn, and {len(found - {2, 4})} masked ones",
        )


@check(
    "sampler.logits-are-left-alone",
    3,
    "The logits are not changed: log-probabilities are taken from them afterwards",
    needs=("sampler",),
    clauses=("logits-output/next_token_logits",),
    why="return_logprob would report the filtered distribution.",
)
def _alone(context: Context) -> None:
    import torch

    logits = torch.randn(8, 20, generator=torch.Generator().manual_seed(3))
    kept = logits.clone()
    info = context.builder.sampling_info("cpu", [0.7] * 8, [0.9] * 8, [5] * 8, 20)
    ask("sampling", context.subject.sampler, logits, info)
    expect(torch.equal(logits, kept), "sampling changes the logits in place")
