"""What `plan` says of a card is what the real engine made of one of that size."""

import re

import pytest

from sglang_contracts.planning import Wanted, plan, read_architecture, read_weights
from sglang_contracts.planning.equations import Equations


def held(run, card, release):
    """Tokens of the pool that the engine made, and that were planned."""
    job, result, _ = run
    (tokens,) = {int(found) for found in re.findall(r"max_total_num_tokens=(\d+)", result.log)}
    ranks = job.options.get("tp_size", 1)
    shape = read_architecture(job.model, "bfloat16")
    weights = read_weights(job.model, shape, ranks)
    wanted = Wanted(
        card=card,
        ranks=ranks,
        fraction=job.options["mem_fraction_static"],
        page_size=job.page_size,
    )
    return tokens, plan(shape, weights, wanted, Equations(release)).tokens


def test_the_planned_pool_of_two_ranks_is_that_of_the_engine(ranks_run, card_bytes, release):
    engine, planned = held(ranks_run, card_bytes, release)
    assert engine > 100_000
    assert planned == pytest.approx(engine, rel=0.01)


def test_the_planned_pool_of_a_card_is_that_of_the_engine(card_run, card_bytes, release):
    engine, planned = held(card_run, card_bytes, release)
    assert engine > 100_000
    assert planned == pytest.approx(engine, rel=0.01)


def test_the_planned_pool_beside_int8_is_that_of_the_engine(int8_run, card_bytes, release):
    engine, planned = held(int8_run, card_bytes, release)
    assert engine > 100_000
    assert planned == pytest.approx(engine, rel=0.01)
