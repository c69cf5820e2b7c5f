"""Slopes, steps and outliers, on series whose truth is known."""

import random

import pytest

from sglang_contracts.serving import statistics


def noisy(values, seed=0, noise=0.05, spikes=0.03):
    """Latencies as a busy machine gives them: noise that only adds, and spikes."""
    drawn = random.Random(seed)
    found = []
    for value in values:
        extra = abs(drawn.gauss(0, noise)) * value
        found.append(value + extra + (drawn.random() < spikes) * 10 * value)
    return found


def medians(values):
    return statistics.windows(values, 16)


@pytest.mark.parametrize("seed", range(20))
def test_a_slope_is_found_with_an_interval_that_holds_it(seed):
    xs = list(range(200))
    ys = noisy([10 + 0.02 * x for x in xs], seed)
    found = statistics.slope(xs, ys)
    assert found.low <= 0.02 * 1.06
    assert found.high >= 0.02
    assert found.low > 0


@pytest.mark.parametrize("seed", range(20))
def test_a_flat_series_has_no_slope(seed):
    found = statistics.slope(list(range(200)), noisy([10.0] * 200, seed))
    assert found.low < 0.001  # of 10, over 200: one interval in a hundred may miss the truth
    assert found.high > -0.001


def test_few_points_have_no_slope():
    assert statistics.slope([1, 2, 3], [1, 2, 3]) is None
    assert statistics.slope([1] * 10, list(range(10))) is None


@pytest.mark.parametrize("seed", range(20))
def test_even_growth_is_no_step(seed):
    for per_token in (0.0, 0.002, 0.01):
        series = noisy([3 + per_token * at for at in range(768)], seed)
        assert statistics.step(medians(series)) is None


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("where", [256, 448, 640])
def test_a_step_is_found_where_it_is(seed, where):
    series = noisy([3 + 0.001 * at + (6 if at >= where else 0) for at in range(768)], seed)
    found = statistics.step(medians(series))
    assert found is not None
    assert abs(found.at * 16 - where) <= 16


@pytest.mark.parametrize("seed", range(10))
def test_a_burst_that_passes_is_no_step(seed):
    series = noisy([3 + (9 if 300 <= at < 420 else 0) for at in range(768)], seed)
    assert statistics.step(medians(series)) is None


def test_outliers_are_far_above_the_others():
    assert statistics.outliers([0.03] * 20 + [0.9, 0.04]) == [20]
    assert statistics.outliers([0.03, 0.05, 0.09, 0.04] * 5) == []
    assert statistics.outliers([]) == []
